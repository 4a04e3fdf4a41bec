"""Callers that mean harm, for longer than in `make test`: random messages, watchers that read nothing, reconnects, a
minute of each fuzz target."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stack.toolchain import go_path

ROOT = Path(__file__).parents[2]
SERVE = ROOT / "recommender/serve"


def targets() -> list[tuple[str, str]]:
    """Package and name of each fuzz target of the Go modules."""
    found = []
    for module in (SERVE, ROOT / "actuators"):
        for file in sorted(module.rglob("*_test.go")):
            names = re.findall(r"^func (Fuzz\w+)\(", file.read_text(), re.MULTILINE)
            found += [(str(file.parent.relative_to(ROOT)), name) for name in names]
    return found


def go(folder: Path, *arguments: str, timeout_s: float = 1_800, **variables: str) -> None:
    done = subprocess.run(
        [str(go_path()), "test", "-count=1", *arguments],
        cwd=folder,
        env={**os.environ, "CGO_ENABLED": "0", **variables},
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}{done.stderr[-4000:]}"


def test_a_minute_of_mutated_messages_through_the_jobs_stages() -> None:
    arguments = ["-Dtest=HostileMessagesTest", "-Dsluice.hostile.seconds=60"]
    command = ["mvn", "-B", "-q", "-f", str(ROOT / "streaming-jobs/functions/pom.xml"), "test", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1_800)
    assert done.returncode == 0, f"{done.stdout[-4000:]}{done.stderr[-4000:]}"


@pytest.mark.parametrize(("package", "name"), targets())
def test_a_minute_of_each_fuzz_target(package: str, name: str) -> None:
    go(ROOT / package, "-run", "^$", "-fuzz", f"^{name}$", "-fuzztime", "60s", "-parallel", "2")


def test_six_hundred_random_messages_to_each_method() -> None:
    go(SERVE / "internal/server", "-run", "TestNoMessageOfACaller", SLUICE_HOSTILE_CALLS="600")


def test_five_thousand_watchers_that_read_nothing_end_by_the_servers_pings() -> None:
    go(SERVE / "internal/server", "-run", "TestWatchersThatReadNothing", SLUICE_HALF_OPEN="5000")


def test_storms_of_three_thousand_reconnects_leave_nothing() -> None:
    go(SERVE / "internal/server", "-run", "TestAStormOfReconnects", SLUICE_RECONNECTS="3000")


def test_two_thousand_callers_without_a_token_are_refused_before_they_are_read() -> None:
    go(SERVE / "internal/server", "-run", "TestACallerWithoutAToken", SLUICE_UNKNOWN_CALLERS="2000")


def test_a_hundred_slow_checks_of_health_end() -> None:
    go(SERVE / "internal/server", "-run", "TestASlowCheck", SLUICE_UNKNOWN_CALLERS="100")


@pytest.mark.parametrize(
    "file",
    [
        "tuning/session/test_hostile_commands.py",  # commands of tuning sessions
        "engine/test_hostile_records.py",  # records of the journal
        "config/test_hostile_documents.py",  # files of configuration and of tuning
    ],
)
def test_fifteen_hundred_examples_for_the_decider(file: str) -> None:
    path = ROOT / "recommender/decide/tests" / file
    variables = {**os.environ, "SLUICE_HOSTILE_EXAMPLES": "1500"}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", path], env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
