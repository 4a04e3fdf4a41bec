"""Holds one reader of Kafka up: a quota of the broker on the fetches of its client id, as an administrator sets it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from sluice_kit.local_stack.driver import Stack
from sluice_kit.servers.kafka import JARS
from stack.configs import QUICK
from stack.layout import java_home


@contextmanager
def slowed(stack: Stack, client: str, bytes_per_s: int) -> Iterator[None]:
    """Within the block the client gets so many bytes of records a second, in bursts of ten seconds' worth.

    Once it ends it may be held up for as long as its last burst still counts for, some 10 s.
    """
    _alter(stack, client, "--add-config", f"consumer_byte_rate={bytes_per_s}")
    try:
        yield
    finally:
        _alter(stack, client, "--delete-config", "consumer_byte_rate")


def _alter(stack: Stack, client: str, *words: str) -> None:
    command = [str(java_home() / "bin/java"), "-Xmx128m", *QUICK, "-cp", f"{JARS}/*", "kafka.admin.ConfigCommand"]
    command += ["--bootstrap-server", stack.address["SLUICE_KAFKA"], "--alter"]
    command += ["--entity-type", "clients", "--entity-name", client, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
