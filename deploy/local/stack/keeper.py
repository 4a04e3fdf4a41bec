"""The next action of the keeper of the streaming job. Pure: values describe the cluster."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

# org.apache.flink.api.common.JobStatus
ENDED = {"FINISHED", "CANCELED", "FAILED", "SUSPENDED"}
ATTEMPTS = 3  # submissions from one snapshot before the keeper tries an older one
# Flink's traces name these where a snapshot's files are broken, or where the code that reads it does not fit the code
# that wrote it: the last is what reads and maps the snapshot's _metadata.
READS = ("StateMigrationException", "BackendBuildingException", "InvalidClassException", "checkpoint.Checkpoints.")
# And these where the machine is at fault: the snapshot may be whole.
MACHINE = ("No space left on device", "Too many open files", "OutOfMemoryError", "Cannot allocate memory")
CAUSED_BY = "Caused by: "
# `flink run` prints the trace of a program in Python, then this one, of itself.
ABORTED = "org.apache.flink.client.program.ProgramAbortException"


@dataclass(frozen=True)
class Unreadable:
    """A snapshot that a job cannot read, and why, in Flink's words."""

    snapshot: str
    why: str


@dataclass(frozen=True)
class Job:
    """A job as Flink's REST interface lists it. unreadable: the snapshot that it was started from; None: it read it."""

    id: str
    name: str
    state: str
    unreadable: Unreadable | None = None


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
    unreadable: Unreadable


@dataclass(frozen=True)
class Submit:
    """Start the job from `snapshot`, or with no state when that is None."""

    snapshot: Snapshot | None


def unreadable(restored: str, completed: int, failures: Sequence[str]) -> Unreadable | None:
    """`restored`, the snapshot that a job was started from, when its failures show that it cannot read it.

    completed: number of its own checkpoints; one proves that it could. failures: stack traces, newest first.
    """
    if completed or len(failures) < ATTEMPTS or not all(map(cannot_read, failures)):
        return None
    return Unreadable(restored, cause(failures[0]))


def cannot_read(trace: str) -> bool:
    """Whether a stack trace shows that a snapshot cannot be read, however often it is tried."""
    return any(name in trace for name in READS) and not any(text in trace for text in MACHINE)


def cause(trace: str) -> str:
    """The innermost cause of a stack trace of Java or Python, in a line."""
    before = trace.partition(ABORTED)[0] or trace
    lines = [line for line in before.splitlines() if line.strip() and not line[0].isspace()]
    causes = [line.removeprefix(CAUSED_BY) for line in lines if line.startswith(CAUSED_BY)]
    return (causes or lines or ["no reason given"])[-1].strip()[:300]


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
    if alive and alive[0].unreadable:
        return Abandon(alive[0].id, alive[0].unreadable)
    if alive:
        return Wait(f"{alive[0].id} is {alive[0].state}")
    if free_slots < 1:
        return Wait("no free task slot")
    if missing := schema():
        return Wait(f"the schema: {missing}")
    usable = [snapshot for snapshot in snapshots if failures.get(snapshot.path, 0) < ATTEMPTS]
    return Submit(max(usable, key=lambda snapshot: snapshot.taken_at, default=None))
