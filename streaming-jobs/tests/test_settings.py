"""Settings of the jobs: defaults, ranges, and the errors of run.py. No Flink is needed."""

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
        (("--path-window-ms", "10500"), ("--path-window-ms is 10500", "whole seconds")),
        (("--trace-open-spans", "9999"), ("--trace-open-spans is 9999", "10000 to 100000000")),
        (("--trace-heap-percent", "81"), ("--trace-heap-percent is 81", "1 to 80")),
        (("--clock-records-ms", "60001"), ("--clock-records-ms is 60001", "0 to 60000")),
        (("--most-services", "9"), ("--most-services is 9", "10 to 1000000")),
        (("--bounds-window-ms", "999"), ("--bounds-window-ms is 999", "1000 to 3600000")),
        (("--trace-late-ms", "3600001"), ("--trace-late-ms is 3600001", "0 to 3600000")),
        (("--sample-window-ms", "1500"), ("--sample-window-ms is 1500", "whole seconds")),
        (("--sample-window-ms", "120000"), ("--sample-window-ms is 120000", "1000 to 60000")),
        (("--max-age-ms", "-1"), ("--max-age-ms is -1", "60000 to")),
        (("--trace-quiet-ms", "70000"), ("--trace-max-age-ms", "--trace-quiet-ms")),
        (("--graph-max-age-ms", "600000"), ("--graph-max-age-ms", "--max-ahead-ms", "--edge-window-ms")),
        (("--lateness-ms", "604800001"), ("--lateness-ms is 604800001", "0 to 604800000")),
        (("--peers-from-traces", "2"), ("--peers-from-traces is 2", "0 to 1")),
        (
            ("--state-ttl-ms", "719999"),
            ("--state-ttl-ms is 719999", "--max-spread-ms + --lateness-ms + --trace-max-age-ms, 720000"),
        ),
        (
            ("--state-ttl-ms", "659999", "--peers-from-traces", "0"),
            ("--state-ttl-ms is 659999", "--max-spread-ms + --lateness-ms, 660000"),
        ),
        (("--repeat-window-ms", "3600001"), ("--state-ttl-ms is 3600000", "--repeat-window-ms, 3600001")),
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
    for words in (
        "concurrency",
        "call_graph",
        "critical_paths",
        "container_latency",
        "resource_metrics",
        "--bucket-ms N",
        "default: 100",
    ):
        assert words in answer.stdout


@pytest.mark.parametrize(("peers", "moved"), [("1", True), ("0", False)])
def test_traces_give_moves_only_if_peers_come_from_them(peers: str, moved: bool) -> None:
    program = (
        "import run; o = run.parser().parse_args(['concurrency', '--peers-from-traces', '" + peers + "']);"
        "values = {n: getattr(o, n.replace('-', '_')) for n in run.SETTINGS};"
        "s = run.Settings(run.Addresses.from_environment(), values);"
        "print(run.configuration(s, list(run.JOBS.values()))['pipeline.global-job-parameters'])"
    )
    answer = subprocess.run([sys.executable, "-c", program], cwd=JOBS, capture_output=True, text=True, timeout=60)
    parameters = dict(pair.split(":", 1) for pair in answer.stdout.strip().split(","))
    assert ("moved" in parameters["sluice.span-tables"].split(";")) is moved, answer.stderr


def test_an_address_that_would_break_out_of_its_literal_is_refused() -> None:
    answer = run("concurrency", SLUICE_KAFKA="broker:9092', 'x' = '")
    assert answer.returncode == 2
    assert "kafka" in answer.stderr


@pytest.mark.parametrize("store", ["CLICKHOUSE", "NEO4J"])
def test_a_password_in_a_variable_is_refused_with_the_legal_form(store: str) -> None:
    name = f"SLUICE_{store}_PASSWORD"
    answer = run("concurrency", "--check", **{name: "secret"})
    assert answer.returncode == 2
    assert f"{name} is not legal: must be {name}_FILE=PATH" in answer.stderr
    assert run("concurrency", "--check", **{name: "", f"{name}_FILE": "/run/secrets/password"}).returncode == 0


def test_a_missing_jar_is_named_with_the_command_that_builds_it(tmp_path: Path) -> None:
    answer = run("concurrency", "--jar", str(tmp_path / "none.jar"))
    assert answer.returncode == 2
    assert "none.jar" in answer.stderr
    assert "mvn" in answer.stderr
