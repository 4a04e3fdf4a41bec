"""What must not happen to the streaming job while a test feeds it: restarts, and memory without bound."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sluice_kit.local_stack.driver import Stack
from sluice_kit.waiting import until
from stack import processes

JOB = "sluice-streaming"
MIB = 1 << 20
#: taskmanager.memory.process.size of the local stack is 1536 MiB; what native memory takes beside is the margin.
TASKMANAGER_BYTES = 1_800 * MIB


@dataclass(frozen=True)
class RunningJob:
    """The job as it is now: two of them are equal when nothing of it was started anew in between."""

    job_id: str
    state: str
    restarts: int
    taskmanagers: frozenset[int]

    @classmethod
    def of(cls, stack: Stack) -> "RunningJob | None":
        """None when there is no such job."""
        job = next((job for job in stack.flink("jobs/overview")["jobs"] if job["name"] == JOB), None)
        if job is None:
            return None
        metrics = stack.flink(f"jobs/{job['jid']}/metrics?get=numRestarts")
        restarts = int(float(metrics[0]["value"])) if metrics else 0
        return cls(job["jid"], job["state"], restarts, frozenset(_taskmanagers(stack)))


def running(stack: Stack) -> RunningJob:
    """The job, once it runs: a stack that has just come up still submits it."""
    until("the job runs", lambda: (job := RunningJob.of(stack)) is not None and job.state == "RUNNING")
    job = RunningJob.of(stack)
    assert job
    return job


@contextmanager
def undisturbed(stack: Stack) -> Iterator[None]:
    """Fails when the job, or the process that it runs in, is not the same at the end, or has grown too large."""
    before = running(stack)
    yield
    assert RunningJob.of(stack) == before
    assert resident_bytes(stack) < TASKMANAGER_BYTES


def resident_bytes(stack: Stack) -> int:
    """The most memory that the TaskManager's process ever held."""
    return max(_peak(pid) for pid in _taskmanagers(stack))


def _taskmanagers(stack: Stack) -> list[int]:
    state = Path(stack.address["SLUICE_STATE"])
    managers = [
        pid for pid, words in processes.of_stack(state).items() if "TaskManagerRunner" in words and "java" in words
    ]
    assert managers, "no TaskManager runs"
    return managers


def _peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024
