"""What Flink's REST interface tells about the streaming job of a stack."""

import time

import requests

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.running_job import JOB
from sluice_kit.waiting import until


def metric(stack: Stack, sink: str, name: str) -> str:
    """The value of `name` in the writer of the table `sink`, at parallelism 1; "" while Flink does not have it."""
    running = _running(stack)
    if running is None:
        return ""
    job = stack.flink(f"jobs/{running}")
    for vertex in job["vertices"]:
        path = f"jobs/{job['jid']}/vertices/{vertex['id']}/metrics"
        for entry in stack.flink(path):
            if entry["id"].startswith(f"0.{sink}[") and entry["id"].endswith(f"Writer.{name}"):
                values = stack.flink(f"{path}?get={entry['id']}")
                return str(values[0]["value"]) if values else ""
    return ""


def next_checkpoints(stack: Stack, count: int = 1) -> None:
    """Returns when `count` checkpoints that begin from now on are complete."""
    since_ms = time.time() * 1000
    until(f"{count} checkpoints complete", lambda: len([at for at in _completed(stack) if at > since_ms]) >= count)


def _completed(stack: Stack) -> list[float]:
    """When the newest checkpoints that are complete began, Unix time in ms."""
    running = _running(stack)
    if running is None:
        return []
    try:
        history = stack.flink(f"jobs/{running}/checkpoints")["history"]
    except requests.HTTPError:
        return []  # a JobManager that has just come back answers 500 for a job that it is taking up
    return [checkpoint["trigger_timestamp"] for checkpoint in history if checkpoint["status"] == "COMPLETED"]


def _running(stack: Stack) -> str | None:
    """Id of the job; None while it is not running, as after a kill."""
    jobs = stack.flink("jobs/overview")["jobs"]
    return next((str(job["jid"]) for job in jobs if job["name"] == JOB and job["state"] == "RUNNING"), None)
