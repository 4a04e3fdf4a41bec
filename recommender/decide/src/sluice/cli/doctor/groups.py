"""Which consumer groups read the topics for Sluice: those of others, and of who only looked once, are nobody's lag."""

from collections.abc import Callable, Collection

from sluice.cli.doctor.finding import NotAnsweringError
from sluice.cli.doctor.flink import JOB
from sluice.cli.doctor.probe import get_json
from sluice.cli.environment import Addresses

#: As streaming-jobs/jobs/run.py knows them: a group has the name of its Flink job, which is made of these.
JOBS = frozenset({"concurrency", "call_graph", "critical_paths", "container_latency", "resource_metrics"})
_PREFIX = "sluice-"

Known = Callable[[str], bool]


def is_job(group: str, flink_jobs: Collection[str]) -> bool:
    """flink_jobs: names of the jobs that Flink knows, which `--name` may have chosen."""
    parts = group.removeprefix(_PREFIX).split("+")
    return group == JOB or group in flink_jobs or (group.startswith(_PREFIX) and JOBS.issuperset(parts))


def known(where: Addresses, timeout_s: float) -> Known:
    """Without an answer of Flink: those that have the usual names."""
    try:
        jobs = {str(each["name"]) for each in get_json(f"{where.flink}/jobs/overview", timeout_s)["jobs"]}
    except NotAnsweringError:
        jobs = set()
    return lambda group: is_job(group, jobs)
