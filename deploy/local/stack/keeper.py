"""The next action of the keeper of the streaming job. Pure: values describe the cluster."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

# org.apache.flink.api.common.JobStatus
ENDED = {"FINISHED", "CANCELED", "FAILED", "SUSPENDED"}
ATTEMPTS = 3  # submissions from one snapshot before the keeper tries an older one
# Flink throws these when the code that reads a snapshot does not fit the code that wrote it.
MISFITS = ("StateMigrationException", "BackendBuildingException", "InvalidClassException")


@dataclass(frozen=True)
class Job:
    """A job as Flink's REST interface lists it.

    misfit: the snapshot that it was started from and cannot read, "" when it could.
    """

    id: str
    name: str
    state: str
    misfit: str = ""


@dataclass(frozen=True)
class Snapshot:
    """A savepoint or retained checkpoint, by its directory; `taken_at` in seconds since the epoch."""

    path: str
    taken_at: float


@dataclass(frozen=True)
class Wait:
    """Do nothing for now."""

    why: str


@dataclass(frozen=True)
class Abandon:
    """Cancel the job, which would restart for ever, and never again start from its snapshot."""

    job: str
    snapshot: str


@dataclass(frozen=True)
class Submit:
    """Start the job from `snapshot`, or with no state when that is None."""

    snapshot: Snapshot | None


def misfit(restored: str, completed: int, failures: Sequence[str]) -> str:
    """`restored`, the snapshot that a job was started from, when its failures show that it cannot read it; else "".

    completed: number of its own checkpoints; one proves that it could. failures: stack traces, newest first.
    """
    unreadable = len(failures) >= ATTEMPTS and all(any(name in trace for name in MISFITS) for trace in failures)
    return restored if unreadable and not completed else ""


def decide(
    name: str,
    jobs: Sequence[Job] | None,
    free_slots: int,
    snapshots: Sequence[Snapshot],
    failures: dict[str, int],
    schema: Callable[[], str] = lambda: "",
) -> Wait | Abandon | Submit:
    """The next action for the job called `name`.

    jobs: None when the cluster does not answer. schema: what is missing in ClickHouse, "" when nothing is; called
    before a submission alone. failures: snapshot path ("" = no snapshot) -> submissions from it
    that did not last. The newest snapshot that has not failed ATTEMPTS times wins. Only when there is none do the
    sources start from the earliest record; the sinks then end in the same rows.
    """
    if jobs is None:
        return Wait("Flink does not answer")
    alive = [job for job in jobs if job.name == name and job.state not in ENDED]
    if alive and alive[0].misfit:
        return Abandon(alive[0].id, alive[0].misfit)
    if alive:
        return Wait(f"{alive[0].id} is {alive[0].state}")
    if free_slots < 1:
        return Wait("no free task slot")
    if missing := schema():
        return Wait(f"the schema: {missing}")
    usable = [snapshot for snapshot in snapshots if failures.get(snapshot.path, 0) < ATTEMPTS]
    return Submit(max(usable, key=lambda snapshot: snapshot.taken_at, default=None))
