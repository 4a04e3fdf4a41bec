"""Runs a loop of tests/bench/java: a Java file compiled as it is started, on the classes of the jobs' jar."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile

from sluice.cli.traces.critical_path.walker import command

JAVA = Path(__file__).with_name("java")


def run(name: str, messages: Iterable[bytes], warm_up_s: float, measure_s: float) -> dict[str, float]:
    """The figures that the loop `name` prints after it has read `messages`. One JVM, serial collector."""
    *java, _ = command()
    with NamedTemporaryFile("wb") as file:
        file.writelines(len(message).to_bytes(4, "big") + message for message in messages)
        file.flush()
        words = [*java, str(JAVA / f"{name}.java"), file.name, str(warm_up_s), str(measure_s)]
        done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures
