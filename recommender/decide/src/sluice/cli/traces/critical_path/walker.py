"""Runs the Java program that walks traces: starts it once, feeds it messages, reads its output to the end."""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from sluice.cli.output import CliError

REPOSITORY = Path(__file__).resolve().parents[7]
MAIN = "dev.sluice.paths.Main"
_CHUNK = 1 << 16
_SETUP = f"run `make setup` in {REPOSITORY}"


def command(environment: Mapping[str, str] = os.environ, repository: Path = REPOSITORY) -> list[str]:
    """The command line that starts the program; SLUICE_FUNCTIONS_JAR names another jar. Raises CliError."""
    jar = Path(
        environment.get("SLUICE_FUNCTIONS_JAR") or repository / "streaming-jobs/functions/target/sluice-functions.jar"
    )
    if not jar.is_file():
        raise CliError(f"cannot compute paths: {jar} is not built; {_SETUP}")
    # A short run is mostly start-up, and the serial collector starts fastest.
    return [_java(environment, repository), "-XX:+UseSerialGC", "-Xshare:auto", "-cp", str(jar), MAIN]


def _java(environment: Mapping[str, str], repository: Path) -> str:
    """The path of java: set-up's, else JAVA_HOME's, else the one on PATH."""
    homes = [repository / ".cache/java-home"]
    if environment.get("JAVA_HOME"):
        homes.append(Path(environment["JAVA_HOME"]))
    for home in homes:
        if os.access(home / "bin/java", os.X_OK):
            return str(home / "bin/java")
    java = shutil.which("java", path=environment.get("PATH"))
    if java is None:
        raise CliError(f"cannot compute paths: there is no Java (17 or later); {_SETUP}, or set JAVA_HOME")
    return java


def walk(command: list[str], messages: Iterable[bytes], write: Callable[[bytes], object]) -> dict[str, int]:
    """Feeds `messages` to the program `command`, passes its output to `write`, and returns its counts.

    A chunk for `write` may end within a line. Raises CliError when the program fails, and any exception of `messages`
    or `write`.
    """
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise CliError(f"cannot start {command[0]}: {error.strerror or error}") from None
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    stdin, stderr = process.stdin, process.stderr
    failures: list[BaseException] = []
    output: list[bytes] = []

    def feed() -> None:
        try:
            with stdin:
                for message in messages:
                    stdin.write(len(message).to_bytes(4, "big") + message)
        except BrokenPipeError:
            pass  # the program ended early; its exit code and last lines name the cause
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=feed), threading.Thread(target=lambda: output.append(stderr.read()))]
    for thread in threads:
        thread.daemon = True
        thread.start()
    try:
        while chunk := process.stdout.read1(_CHUNK):  # type: ignore[attr-defined]
            write(chunk)
        process.wait()
    finally:
        process.kill()
        process.wait()
        for thread in threads:
            thread.join()
        process.stdout.close()
        stderr.close()
    if failures:
        raise failures[0]
    return _counts(process.returncode, output[0].decode(errors="replace"))


def _counts(code: int, output: str) -> dict[str, int]:
    lines = output.strip().splitlines()
    if code == 0 and lines and lines[-1].startswith("{"):
        counts: dict[str, int] = json.loads(lines[-1])
        return counts
    cause = lines[-1] if lines else f"exit code {code}"
    if f"class {MAIN}" in output:
        cause = f"the jar is older than this command; {_SETUP}"
    raise CliError(f"cannot compute paths: {cause}")
