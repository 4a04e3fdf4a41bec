"""Which consumer groups are Sluice's readers. Lag of other groups, and of one-off readers, does not count."""

from collections.abc import Callable, Collection

from sluice.cli.doctor.finding import NotAnsweringError
from sluice.cli.doctor.flink import JOB
from sluice.cli.doctor.probe import get_json
from sluice.cli.environment import Addresses

#: The same names as in streaming-jobs/jobs/run.py: a consumer group has the name of its Flink job, made of these.
JOBS = frozenset({"concurrency", "call_graph", "critical_paths", "container_latency", "resource_metrics"})
_PREFIX = "sluice-"

Known = Callable[[str], bool]


def is_job(group: str, flink_jobs: Collection[str]) -> bool:
    """flink_jobs: names of the jobs that Flink knows; `--name` may have set them."""
    parts = group.removeprefix(_PREFIX).split("+")
    return group == JOB or group in flink_jobs or (group.startswith(_PREFIX) and JOBS.issuperset(parts))


def known(where: Addresses, timeout_s: float) -> Known:
    """Asks Flink for its jobs. Without an answer, only groups with the default names are known."""
    try:
        jobs = {str(job["name"]) for job in get_json(f"{where.flink}/jobs/overview", timeout_s)["jobs"]}
    except NotAnsweringError:
        jobs = set()
    return lambda group: is_job(group, jobs)
