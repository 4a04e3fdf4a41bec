"""The local stack as tests use it: the project's own driver, on ports and a state directory of its own."""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
# Another file can be named, to run beside tests that are running already. It must keep the state directory.
OVERLAY = Path(os.environ.get("SLUICE_TEST_STACK", REPOSITORY / "tests/integration/stack.toml")).resolve()


class Stack:
    """A stack that is up. `address` maps SLUICE_* names to addresses."""

    def __init__(self, address: dict[str, str]):
        self.address = address
        self.environment = os.environ | {"SLUICE_STACK": str(OVERLAY)} | address

    def sluice(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs `./sluice words...` against this stack; never raises for its exit code."""
        return subprocess.run(
            [str(REPOSITORY / "sluice"), *words], env=self.environment, capture_output=True, text=True, timeout=300
        )

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Rows of a query, through the CLI and its read-only user."""
        answer = self.sluice("sql", query, "-o", "json")
        assert answer.returncode == 0, answer.stderr
        rows: list[dict[str, Any]] = json.loads(answer.stdout)
        return rows

    def value(self, query: str) -> Any:
        """The one value of a query with one row and one column."""
        (row,) = self.rows(query)
        (value,) = row.values()
        return value


@contextmanager
def local_stack(*options: str) -> Iterator[Stack]:
    """Starts the test stack with `options` for the driver's `up`, and stops it at the end, whatever happened."""
    try:
        drive("up", *options)
        yield Stack(_addresses(REPOSITORY / ".cache/test-stack/env"))
    finally:
        drive("down")


def drive(*words: str) -> None:
    """Runs the driver of deploy/local on the test stack. Its output goes to the test's output."""
    environment = os.environ | {"SLUICE_STACK": str(OVERLAY), "PYTHONPATH": str(REPOSITORY / "deploy/local")}
    subprocess.run([sys.executable, "-m", "stack", *words], env=environment, cwd=REPOSITORY, check=True, timeout=1500)


# How long a test waits for what has to come. Speed is not tested here: a busy machine takes three times as long as an
# idle one, and what comes at once is not waited for.
PATIENCE_S = 300.0


def eventually(probe: Callable[[], Any], expected: Any, within_s: float = PATIENCE_S, steady_s: float = 3.0) -> Any:
    """Polls until `probe() == expected` and it has stayed so for `steady_s`; returns the last value either way.

    The steady time lets a count that is still rising overshoot: "exactly" must not pass on its way to too many.
    """
    end = time.monotonic() + within_s
    since: float | None = None
    value = probe()
    while time.monotonic() < end:
        if value != expected:
            since = None
        elif since is None:
            since = time.monotonic()
        elif time.monotonic() - since >= steady_s:
            break
        time.sleep(0.5)
        value = probe()
    return value


def _addresses(env_file: Path) -> dict[str, str]:
    lines = (line.removeprefix("export ").strip() for line in env_file.read_text().splitlines())
    pairs = (line.split("=", 1) for line in lines if "=" in line)
    return {name: shlex.split(value)[0] if value else "" for name, value in pairs}
