"""The keeper of the streaming job, a process of the stack: `python3 -m stack.jobs`."""

import contextlib
import dataclasses
import random
import signal
import sys
import threading
import time

from stack import settings as stack_settings
from stack.flink import JOB_NAME, Flink, SubmissionError, missing_schema, snapshots, submit
from stack.http import UnreachableError
from stack.keeper import ATTEMPTS, ENDED, Abandon, Job, Submit, cannot_read, decide

PERIOD_S = 2.0
BACKOFF_S = (2.0, 60.0)  # first and longest pause after a submission that failed
LASTING_S = 60.0  # a job that ran this long clears the failures before it


def log(message: str) -> None:
    print(time.strftime("%Y-%m-%d %H:%M:%S"), message, flush=True)


class JobKeeper:
    """Looks at the cluster every PERIOD_S, and submits the job when it is not there."""

    def __init__(self, settings: stack_settings.Settings, stopping: threading.Event) -> None:
        self._settings = settings
        self._flink = Flink(settings)
        self._stopping = stopping
        self._failures: dict[str, int] = {}
        self._submitted: tuple[str, float] | None = None
        self._logged = ""

    def run(self) -> None:
        while not self._stopping.is_set():
            self._stopping.wait(PERIOD_S if self._step() else self._backoff_s())

    def _backoff_s(self) -> float:
        """Doubles with each failure since the job last ran for LASTING_S; with jitter."""
        exponent = min(sum(self._failures.values()), 10)
        return min(BACKOFF_S[0] * 2.0**exponent, BACKOFF_S[1]) * random.uniform(0.5, 1.0)

    def _step(self) -> bool:
        """One look and one action; False when a submission failed or did not last."""
        jobs, free_slots = self._look()
        decision = decide(JOB_NAME, jobs, free_slots, snapshots(self._settings), self._failures, missing_schema)
        if isinstance(decision, Abandon):
            snapshot = decision.unreadable.snapshot
            why = f"cannot read {snapshot}: {decision.unreadable.why}"
            self._log_once(f"{decision.job} {why}; cancelling it, to start from an older snapshot")
            self._failures[snapshot] = ATTEMPTS
            self._submitted = None
            with contextlib.suppress(UnreachableError):
                self._flink.cancel(decision.job)
            return True
        if not isinstance(decision, Submit):
            self._log_once(decision.why)
            if self._submitted and "RUNNING" in decision.why and time.monotonic() - self._submitted[1] > LASTING_S:
                self._failures.clear()
                self._submitted = None
            return True
        if self._submitted:  # the submitted job has ended: its snapshot or the job itself is at fault
            self._failures[self._submitted[0]] = self._failures.get(self._submitted[0], 0) + 1
            self._submitted = None
            log(f"the job ended soon after its submission; failures so far: {self._failures}")
            return False
        source = decision.snapshot.path if decision.snapshot else ""
        log(f"submitting {JOB_NAME} from {source or 'the earliest record: there is no usable snapshot'}")
        try:
            submit(self._settings, decision.snapshot)
        except SubmissionError as error:
            broken = bool(source) and cannot_read(error.trace)
            self._failures[source] = ATTEMPTS if broken else self._failures.get(source, 0) + 1
            text = f"cannot read {source}, so an older snapshot is next" if broken else "submission failed"
            log(f"{text}: {error}; failures so far: {self._failures}")
            return False
        self._submitted = (source, time.monotonic())
        return True

    def _look(self) -> tuple[list[Job] | None, int]:
        try:
            jobs = [
                dataclasses.replace(job, unreadable=self._flink.unreadable(job.id)) if job.name == JOB_NAME else job
                for job in self._flink.jobs()
                if job.state not in ENDED
            ]
            return jobs, self._flink.free_slots()
        except UnreachableError:
            return None, 0

    def _log_once(self, message: str) -> None:
        if message != self._logged:
            log(message)
            self._logged = message


def main() -> int:
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    JobKeeper(stack_settings.load(), stopping).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
