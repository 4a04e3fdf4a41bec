"""Flink jobs that a test submits itself, on the stack's cluster, while the keeper of the streaming job rests."""

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sluice_kit.local_stack.driver import Stack
from sluice_kit.waiting import PATIENCE_S, POLL_S, until
from stack.flink import Flink, options
from stack.http import request_json
from stack.layout import CACHE, FLINK_PYTHON
from stack.settings import REPOSITORY, load
from stack.supervisor import Supervisor

WITHIN_S = 300.0
Value = TypeVar("Value")


class FlinkJobs:
    """Submits, stops and cancels. The cluster has three slots: jobs at once must not need more."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._settings = load(stack.environment)
        self._flink = Flink(self._settings)

    def only(self) -> str:
        """The id of the one job, once all of it runs."""
        (job,) = self._wait(self.running, "a job runs")
        return job

    def running(self) -> list[str]:
        """Ids of the jobs of which every task runs: before that, no savepoint can be taken."""
        listed = request_json(f"{self._stack.address['SLUICE_FLINK']}/jobs/overview")["jobs"]
        return [job["jid"] for job in listed if job["tasks"]["running"] == job["tasks"]["total"] > 0]

    def run(
        self,
        *words: str,
        savepoint: str = "",
        parallelism: int = 1,
        backend: str = "rocksdb",
        environment: Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> str:
        """Runs run.py with `words` and returns the job's id once all of its tasks run.

        environment: more of run.py's. log: gets what it prints; the stack's `submission.log` otherwise.
        """
        command = [str(CACHE / "flink/home/bin/flink"), "run", "-d", "-m", self._settings.address("flink_rest")]
        command += ["-p", str(parallelism), f"-Dstate.backend.type={backend}"]
        # The keeper would take up the newest one of its own directory.
        command += [f"-Dexecution.checkpointing.dir=file://{self._settings.state}/flink/test-checkpoints"]
        command += ["-s", savepoint] if savepoint else []
        command += ["-pyexec", str(FLINK_PYTHON), "-pyclientexec", str(FLINK_PYTHON)]
        command += ["-py", str(REPOSITORY / "streaming-jobs/jobs/run.py"), *words, *options(self._settings)]
        flink = {"FLINK_CONF_DIR": str(self._settings.conf / "flink"), "FLINK_LOG_DIR": str(self._settings.logs)}
        before = set(self.running())
        variables = self._stack.programs | flink | {"JVM_ARGS": "-Xmx256m"} | dict(environment or {})
        log = log or self._settings.logs / "submission.log"
        with open(log, "wb") as out:
            done = subprocess.run(command, env=variables, stdout=out, stderr=out, timeout=WITHIN_S)
        assert done.returncode == 0, log.read_text()
        started = self._wait(lambda: set(self.running()) - before, f"{' '.join(words)} runs")
        return started.pop()

    def stop(self, job: str) -> str:
        """Stops with a savepoint, in the format that any state backend reads; returns its path."""
        return self._flink.stop_with_savepoint(job, self._settings.state / "flink/test-savepoints", WITHIN_S)

    def newest_checkpoint(self, job: str) -> str:
        """Path of the newest one on disk: what is left of a job whose JobManager was killed."""
        checkpoints = (self._settings.state / "flink/test-checkpoints" / job).glob("chk-*/_metadata")
        return str(max(checkpoints, key=lambda metadata: metadata.stat().st_mtime).parent)

    def cancel(self, job: str) -> None:
        self._flink.cancel(job)
        self._wait(lambda: job not in self.running(), f"{job} is cancelled")

    def cancel_all(self) -> None:
        for job in self.running():
            self.cancel(job)

    def _wait(self, probe: Callable[[], Value], what: str) -> Value:
        values: list[Value] = []

        def looked() -> bool:
            values[:] = [probe()]
            return bool(values[0])

        until(what, looked)
        return values[0]


@contextmanager
def keeper_at_rest(stack: Stack) -> Iterator[FlinkJobs]:
    """The cluster with the streaming job running, and nobody to start it again; at the end the keeper is back."""
    supervisor = Supervisor(load(stack.environment))
    jobs = FlinkJobs(stack)
    # After a JobManager's end the keeper gets a slot only when the worker misses its heartbeat, 50 s later.
    end = time.monotonic() + PATIENCE_S
    while not jobs.running() and time.monotonic() < end:
        time.sleep(POLL_S)
    supervisor.stop_process("jobs")
    try:
        yield jobs
    finally:
        jobs.cancel_all()
        supervisor.start_process("jobs")
