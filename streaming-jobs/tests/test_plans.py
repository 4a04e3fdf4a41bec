"""Jobs alone, in pairs (long) and all can be deployed as one Flink job: it is planned, and reads each topic once."""

import itertools
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from stack.layout import CACHE, FLINK_PYTHON, java_home

HERE = Path(__file__).parent

# Tables that each job writes, and by how many INSERTs.
SINKS = {
    "concurrency": {"windows": 1, "spans_left_out": 1, "instance_clocks": 1, "service_sampling": 1, "ingest_counts": 1},
    "call_graph": {
        "call_edges": 1,
        "calls": 1,
        "container_calls": 1,
        "call_trees": 1,
        "operation_trees": 1,
        "container_own_time": 1,
        "seen": 1,
        "ingest_counts": 1,
    },
    "critical_paths": {"critical_paths": 1, "path_services": 1, "trace_counts": 1, "ingest_counts": 1},
    "container_latency": {"container_latency": 1, "data_sizes": 1, "ingest_counts": 1},
    "resource_metrics": {"resource_metrics": 1, "pool_metrics": 1, "ingest_counts": 1},
}
METRICS = "resource_metrics"


def environment() -> dict[str, str]:
    """The environment of a JVM that lives for seconds, with Flink's own configuration."""
    variables = os.environ | {"FLINK_HOME": str(CACHE / "flink/home"), "JAVA_HOME": str(java_home())}
    variables.pop("FLINK_CONF_DIR", None)
    return variables | {"JVM_ARGS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"}


@pytest.mark.timeout(320)
def test_without_checkpoints_nothing_is_submitted() -> None:
    """Flink's own configuration, as it is shipped, sets no interval."""
    words = [FLINK_PYTHON, HERE.parent / "jobs/run.py", "concurrency"]
    answer = subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment())
    assert answer.returncode == 2, answer.stdout + answer.stderr
    (line,) = [line for line in answer.stderr.splitlines() if line.startswith("run.py: ")]
    assert "execution.checkpointing.interval is not set" in line
    assert "flink run -Dexecution.checkpointing.interval=5s" in line
    assert "--without-checkpoints" in line


def planned(size: int) -> dict[str, str]:
    """Each set of so many jobs, and all -> what Flink would run."""
    words = [FLINK_PYTHON, HERE / "plans.py", str(size)]
    answer = subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment())
    assert answer.returncode == 0, answer.stderr[-3000:]
    plans: dict[str, str] = json.loads(answer.stdout.splitlines()[-1])
    return {names: plan.split("== Optimized Execution Plan ==")[1] for names, plan in plans.items()}


@pytest.mark.timeout(320)
@pytest.mark.parametrize("size", [1, pytest.param(2, marks=pytest.mark.long)])
def test_each_plan_reads_its_topics_once_and_writes_what_its_jobs_write(size: int) -> None:
    plans = planned(size)
    sets = [*itertools.combinations(SINKS, size), tuple(SINKS)]
    assert set(plans) == {"+".join(names) for names in sets}
    for names, plan in plans.items():
        jobs = names.split("+")
        # SpanStreams reads the spans once, before Flink plans the SQL, which scans each view of SpanStreams once.
        scans = re.findall(r"TableSourceScan\(table=\[\[default_catalog, default_database, (otlp_\w+)", plan)
        assert scans == ["otlp_metrics"] * (METRICS in jobs), names
        views = re.findall(r"TableSourceScan\(table=\[\[\*anonymous_datastream_source\$(\d+)\*\]\]", plan)
        assert len(views) == len(set(views)), names
        assert bool(views) == (jobs != [METRICS]), names
        expected = sorted(
            ["offset_gaps", *(table for job in jobs for table, times in SINKS[job].items() for _ in range(times))]
        )
        if len(jobs) == len(SINKS):
            expected = sorted([*expected, "otlp_dead_letter", "otlp_dead_letter"])
        written = re.findall(r"^Sink\(table=\[default_catalog\.default_database\.(\w+)\]", plan, re.MULTILINE)
        assert sorted(written) == expected, names
