"""The keeper of the streaming job, a process of the local stack: whether it is starting the job."""

from collections.abc import Iterable
from itertools import pairwise

from sluice.cli.supervised import LocalProcess

_FIRST_S = 60.0  # a keeper waits this long at most for a task slot and the schema before it submits the job


def keeper_starts(processes: Iterable[LocalProcess], job: str) -> bool:
    """Whether one of the processes submits the job, or is a keeper that just started."""
    return any(
        ("--name", job) in (pairs := set(pairwise(process.words)))
        or (("-m", "stack.jobs") in pairs and process.age_s < _FIRST_S)
        for process in processes
    )
