"""Flink: its REST interface, its snapshots on disk, and the submission of the streaming job."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from stack import keeper
from stack.http import UnreachableError, request, request_json
from stack.keeper import ENDED, Job, Snapshot, Unreadable
from stack.layout import FLINK_HOME, FLINK_PYTHON
from stack.settings import REPOSITORY, Settings
from stack.steps import StepError

RUN = REPOSITORY / "streaming-jobs/jobs/run.py"

JOB_NAME = "sluice-streaming"
JOBS = ("concurrency", "call_graph", "critical_paths", "container_latency", "resource_metrics")


class SubmissionError(Exception):
    """`flink run` failed. trace: what it printed."""

    def __init__(self, message: str, trace: str) -> None:
        super().__init__(message)
        self.trace = trace


class Flink:
    """The Flink cluster of one stack. Every method raises http.UnreachableError when it does not answer."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._base = f"http://{settings.address('flink_rest')}"

    def jobs(self) -> list[Job]:
        overview = request_json(f"{self._base}/jobs/overview")["jobs"]
        return [Job(job["jid"], job["name"], job["state"]) for job in overview]

    def unreadable(self, job: str) -> Unreadable | None:
        """The snapshot that `job` cannot read; see keeper.unreadable."""
        checkpoints = self.checkpoints(job)
        restored = (checkpoints.get("latest") or {}).get("restored") or {}
        completed = checkpoints["counts"]["completed"]
        if completed or not restored:
            return None
        history = request_json(f"{self._base}/jobs/{job}/exceptions?maxExceptions=3")["exceptionHistory"]
        path = str(restored.get("external_path", "")).removeprefix("file:")
        return keeper.unreadable(path, completed, [entry["stacktrace"] for entry in history["entries"]])

    def running(self) -> Job | None:
        """The streaming job, unless it has ended."""
        return next((job for job in self.jobs() if job.name == JOB_NAME and job.state not in ENDED), None)

    def free_slots(self) -> int:
        return int(request_json(f"{self._base}/overview")["slots-available"])

    def checkpoints(self, job: str) -> dict[str, Any]:
        return dict(request_json(f"{self._base}/jobs/{job}/checkpoints"))

    def stop_with_savepoint(self, job: str, directory: Path, timeout_s: float) -> str:
        """The path of the savepoint. Raises TimeoutError, or UnreachableError with Flink's reason."""
        body = {"targetDirectory": f"file://{directory}", "drain": False}
        trigger = request_json(f"{self._base}/jobs/{job}/stop", method="POST", body=body)["request-id"]
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            answer = request_json(f"{self._base}/jobs/{job}/savepoints/{trigger}")
            if answer["status"]["id"] == "COMPLETED":
                operation = answer["operation"]
                if "location" in operation:
                    return str(operation["location"])
                reason = operation.get("failure-cause", {}).get("stack-trace", "no reason given")
                raise UnreachableError(f"stop {job} with a savepoint failed: {shortened(reason)}")
            time.sleep(0.3)
        raise TimeoutError(f"no savepoint of {job} within {timeout_s:.0f} s")

    def cancel(self, job: str) -> None:
        request(f"{self._base}/jobs/{job}?mode=cancel", method="PATCH")


def shortened(reason: str) -> str:
    """What Flink says behind the names of all operators of a chain, which take thousands of characters."""
    first = (reason.splitlines() or ["no reason given"])[0]
    return first.rpartition("Failure reason: ")[2][:300]


def snapshots(settings: Settings) -> list[Snapshot]:
    """Savepoints and retained checkpoints on disk that are complete: each has a _metadata file, written last."""
    folder, result = settings.state / "flink", []
    for pattern in ("checkpoints/*/chk-*/_metadata", "savepoints/savepoint-*/_metadata"):
        for metadata in folder.glob(pattern):
            with contextlib.suppress(FileNotFoundError):  # Flink deletes a checkpoint that a newer one replaces
                result.append(Snapshot(str(metadata.parent), metadata.stat().st_mtime))
    return result


def options(settings: Settings) -> list[str]:
    """The options of run.py that the stack file sets."""
    rules = REPOSITORY / settings.config["spans"]
    return [f"--span-rules={rules}", *(f"--{name}={value}" for name, value in settings.jobs.items())]


def check_options(settings: Settings) -> None:
    """Raises StepError with run.py's reason when it refuses the stack file's options."""
    words = [sys.executable, str(RUN), *JOBS, "--check", *options(settings)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise StepError(f"[jobs] of the stack file: {reason}", advice=f"`python3 {RUN} --help` lists the options")


def missing_schema(timeout_s: float = 60.0) -> str:
    """What the streaming jobs miss in ClickHouse of this process's environment; "" when nothing."""
    words = [sys.executable, str(RUN.with_name("schema_version.py"))]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return f"ClickHouse does not answer within {timeout_s:.0f} s"
    return (done.stdout.strip() or done.stderr.strip()[-200:]) if done.returncode else ""


def submit(settings: Settings, snapshot: Snapshot | None, timeout_s: float = 180.0) -> None:
    """Runs `flink run`. With CLAIM, Flink owns the snapshot and deletes it once a newer checkpoint replaces it.

    Prints what that prints. Raises SubmissionError.
    """
    words = [str(FLINK_HOME / "bin/flink"), "run", "-d", "-m", settings.address("flink_rest")]
    if snapshot:
        words += ["-s", snapshot.path, "-claimMode", "CLAIM"]
    words += ["-pyexec", str(FLINK_PYTHON), "-pyclientexec", str(FLINK_PYTHON)]
    words += ["-py", str(RUN), *JOBS, "--name", JOB_NAME, *options(settings)]
    environment = {**os.environ, "JVM_ARGS": "-Xmx256m"}
    with tempfile.TemporaryFile("w+", errors="replace") as printed:
        failure = ""
        try:
            done = subprocess.run(
                words, cwd=REPOSITORY, timeout=timeout_s, env=environment, stdout=printed, stderr=subprocess.STDOUT
            )
            failure = f"exit code {done.returncode}" if done.returncode else ""
        except subprocess.TimeoutExpired:
            failure = f"`flink run` has not ended within {timeout_s:.0f} s"
        printed.seek(0)
        trace = printed.read()
    print(trace, end="", flush=True)
    if failure:
        raise SubmissionError(f"{failure}: {keeper.cause(trace)}", trace)
