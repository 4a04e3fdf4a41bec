"""The local stack as tests use it: the project's own driver, on ports and a state directory of its own."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import requests

from sluice_kit.waiting import PATIENCE_S as PATIENCE_S
from sluice_kit.waiting import eventually as eventually
from stack.secrets import by_file

REPOSITORY = Path(__file__).resolve().parents[4]
STATE = REPOSITORY / ".cache/test-stack"
#: Set where the stack is up already and somebody else takes it down: sluice_kit/suites.py.
STARTED = "SLUICE_TEST_STACK_STARTED"
# Another file can be named, to run beside tests that are running already. It must keep the state directory.
OVERLAY = Path(os.environ.get("SLUICE_TEST_STACK", REPOSITORY / "tests/stack/stack.toml")).resolve()


class Stack:
    """A stack that is up. `address` maps SLUICE_* names to addresses.

    environment: of a person's shell. programs: of a program of ours, which reads passwords from files.
    """

    def __init__(self, address: dict[str, str]):
        self.address = address
        self.environment = os.environ | {"SLUICE_STACK": str(OVERLAY)} | address
        self.programs = by_file(self.environment, STATE)

    def sluice(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs `./sluice words...` against this stack; never raises for its exit code."""
        return subprocess.run(
            [str(REPOSITORY / "sluice"), *words], env=self.environment, capture_output=True, text=True, timeout=300
        )

    def rows(self, query: str, within_s: float = 60.0) -> list[dict[str, Any]]:
        """Rows of a query, as the read-only user; whole numbers of 64 bits and more are numbers."""
        answer = requests.post(
            self.address["SLUICE_CLICKHOUSE"],
            params={
                "user": "sluice_reader",
                "database": "sluice",
                "default_format": "JSONEachRow",
                "output_format_json_quote_64bit_integers": "0",
            },
            data=query.encode(),
            timeout=within_s,
        )
        assert answer.ok, f"{answer.text}\n{query}"
        return [json.loads(line) for line in answer.text.splitlines()]

    def command(self, statement: str) -> str:
        """What the server says to a statement of the user that writes."""
        user = self.address.get("SLUICE_CLICKHOUSE_USER", "default")
        answer = requests.post(
            self.address["SLUICE_CLICKHOUSE"],
            auth=(user, self.address.get("SLUICE_CLICKHOUSE_PASSWORD", "")),
            params={"database": "sluice"},
            data=statement.encode(),
            timeout=300,
        )
        assert answer.ok, f"{answer.text}\n{statement}"
        return answer.text

    def flink(self, path: str) -> Any:
        """What Flink's REST interface answers; requests.HTTPError when it refuses."""
        answer = requests.get(f"{self.address['SLUICE_FLINK']}/{path}", timeout=10)
        answer.raise_for_status()
        return answer.json()

    def value(self, query: str) -> Any:
        """The one value of a query with one row and one column."""
        (row,) = self.rows(query)
        (value,) = row.values()
        return value


class StackError(RuntimeError):
    """The stack does not come up. Why, it has said itself: the process, the end of its log, what to do."""


def start_anew() -> None:
    """A stack without demo and without data; what an interrupted run left is stopped. Raises StackError."""
    drive("down")
    shutil.rmtree(STATE, ignore_errors=True)
    try:
        drive("up", "--no-demo")
    except subprocess.SubprocessError as error:
        raise StackError(f"the stack does not come up ({error})") from error


def started() -> Stack:
    """The one that `start_anew` started."""
    return Stack(_addresses(STATE / "env"))


def drive(*words: str) -> None:
    """Runs the driver of deploy/local on the test stack. Its output goes to the test's output."""
    environment = os.environ | {"SLUICE_STACK": str(OVERLAY), "PYTHONPATH": str(REPOSITORY / "deploy/local")}
    subprocess.run([sys.executable, "-m", "stack", *words], env=environment, cwd=REPOSITORY, check=True, timeout=1500)


def _addresses(env_file: Path) -> dict[str, str]:
    lines = (line.removeprefix("export ").strip() for line in env_file.read_text().splitlines())
    pairs = (line.split("=", 1) for line in lines if "=" in line)
    return {name: shlex.split(value)[0] if value else "" for name, value in pairs}
