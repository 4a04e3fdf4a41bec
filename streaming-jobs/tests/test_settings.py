"""Settings of the jobs: defaults, ranges, and what run.py says about what it cannot use. No Flink is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

JOBS = Path(__file__).resolve().parents[1] / "jobs"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(JOBS / "run.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--bucket-ms", "9"), ("--bucket-ms is 9", "10 to 1000")),
        (("--bucket-ms", "1001"), ("--bucket-ms is 1001", "10 to 1000")),
        (("--bucket-ms", "30"), ("--bucket-ms is 30", "divide 1000")),
        (("--edge-window-ms", "1500"), ("--edge-window-ms is 1500", "whole seconds")),
        (("--max-age-ms", "-1"), ("--max-age-ms is -1", "60000 to")),
        (("--trace-quiet-ms", "70000"), ("--trace-max-age-ms", "--trace-quiet-ms")),
        (("--graph-max-age-ms", "600000"), ("--graph-max-age-ms", "--max-ahead-ms", "--edge-window-ms")),
        (("--start", "latest"), ("--start is 'latest'", "earliest, group-offsets, or a time")),
        (("--start", "2026-01-31T12:00:00"), ("no zone", "2026-01-31T12:00:00Z")),
        (("--start", "1969-01-31T12:00:00Z"), ("--start", "1970")),
        (("--name", "a'b"), ("--name is", "must match")),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_range(arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    answer = run("concurrency", *arguments)
    assert answer.returncode == 2
    assert all(word in answer.stderr for word in words), answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("arguments", [(), ("nonsense",), ("concurrency", "--bucket-ms", "ten")])
def test_an_unknown_job_or_value_is_refused(arguments: tuple[str, ...]) -> None:
    answer = run(*arguments)
    assert answer.returncode == 2
    assert "usage: run.py" in answer.stderr


def test_help_names_every_job_and_setting_with_its_default() -> None:
    answer = run("--help")
    assert answer.returncode == 0
    for words in ("concurrency", "call_graph", "--bucket-ms N", "default: 100"):
        assert words in answer.stdout


def test_an_address_that_would_break_out_of_its_literal_is_refused() -> None:
    answer = run("concurrency", SLUICE_KAFKA="broker:9092', 'x' = '")
    assert answer.returncode == 2
    assert "kafka" in answer.stderr


def test_a_missing_jar_is_named_with_the_command_that_builds_it(tmp_path: Path) -> None:
    answer = run("concurrency", "--jar", str(tmp_path / "none.jar"))
    assert answer.returncode == 2
    assert "none.jar" in answer.stderr
    assert "mvn" in answer.stderr
