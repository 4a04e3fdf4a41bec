"""Flink: whether the streaming job runs, restarts, completes checkpoints, and whether the stores take its rows."""

import os
import time
from typing import Any

from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError, limited
from sluice.cli.doctor.keeper import keeper_starts
from sluice.cli.doctor.probe import START, get_json
from sluice.cli.doctor.sinks import judge_sinks, troubles
from sluice.cli.environment import Addresses
from sluice.cli.pools.text import seconds
from sluice.cli.supervised import of_stack

JOB = "sluice-streaming"
_SUBMIT = (
    "submit the job with `make up`; if the stack is up, its keeper's log (.cache/stack/logs/jobs.log) has the cause"
)
_PERIODS = 3  # checkpoint intervals without a completed one: something holds checkpoints up
_TASKS = 5  # of those that a checkpoint waits for are named
_FIRST_CHECKPOINT_S = 60.0  # a job that starts has this long for its first
_HELD_UP = (
    "the job commits nothing until checkpoints complete: repair the store that is named, or look at the job's "
    "checkpoints in Flink's web page"
)
_STARTING = ("INITIALIZING", "CREATED", "RECONCILING")


def job(where: Addresses, timeout_s: float) -> Diagnosis:
    try:
        overview = get_json(f"{where.flink}/jobs/overview", timeout_s)
    except NotAnsweringError as error:
        return Diagnosis("fail", str(error), START)
    state = os.environ.get("SLUICE_STATE", "")
    return judge_job(overview["jobs"], starting=bool(state) and keeper_starts(of_stack(state), JOB))


def judge_job(jobs: list[dict[str, Any]], *, starting: bool = False) -> Diagnosis:
    """jobs: as in /jobs/overview. starting: the local stack's keeper starts the job."""
    ours = [job for job in jobs if job["name"] == JOB]
    running = [job for job in ours if job["state"] == "RUNNING"]
    if len(running) > 1:
        return Diagnosis(
            "warn", f"{len(running)} jobs named {JOB} run at once", "cancel all but one in Flink's web page"
        )
    if running:
        return Diagnosis("ok", f"{JOB} runs since {seconds(running[0]['duration'] / 1000)}")
    if not ours and starting:
        return Diagnosis("warn", f"no job {JOB} yet: its keeper starts it", "look again in a minute")
    if not ours:
        others = ", ".join(job["name"] for job in jobs)
        return Diagnosis("fail", f"no job {JOB}" + (f"; jobs there: {others}" if others else ""), _SUBMIT)
    last = max(ours, key=lambda job: job["start-time"])
    if last["state"] in _STARTING:
        return Diagnosis("warn", f"{JOB} is {last['state']}", "it is starting: look again in a minute")
    return Diagnosis("fail", f"{JOB} is {last['state']}", f"read its exceptions in Flink's web page, then {_SUBMIT}")


def restarts(where: Addresses, timeout_s: float) -> Diagnosis:
    url = f"{where.flink}/jobs/{_newest(where, timeout_s)}"
    metrics = get_json(f"{url}/metrics?get=numRestarts", timeout_s)
    return judge_restarts(metrics, get_json(f"{url}/exceptions", timeout_s), time.time())


def judge_restarts(metrics: list[dict[str, str]], exceptions: dict[str, Any], now_s: float) -> Diagnosis:
    """metrics: Flink's answer for numRestarts. exceptions: as in /jobs/ID/exceptions. now_s: seconds since 1970."""
    entries = exceptions.get("exceptionHistory", {}).get("entries", [])
    if not metrics and not entries:
        return Diagnosis("unknown", "not known: Flink does not report numRestarts yet")
    count = int(float(metrics[0]["value"])) if metrics else None
    text = "number of restarts not known" if count is None else f"{count} restarts"
    if entries:
        newest = entries[0]
        text += f"; {seconds(now_s - newest['timestamp'] / 1000)} ago: {_reason(newest)}"
    if count or entries:
        return Diagnosis(
            "warn", text, "read the stack trace in Flink's web page; restarts lose no spans, but delay them"
        )
    return Diagnosis("ok", text)


def _reason(entry: dict[str, Any]) -> str:
    """The first line of the stack trace, and its innermost cause: a snapshot's broken file is named there alone."""
    lines = str(entry.get("stacktrace") or entry.get("exceptionName") or "").splitlines()
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return "; caused by ".join(line.strip()[:200] for line in (*lines[:1], *causes[-1:]))


def checkpoints(where: Addresses, timeout_s: float) -> Diagnosis:
    url = f"{where.flink}/jobs/{_newest(where, timeout_s)}"
    facts = get_json(f"{url}/checkpoints", timeout_s)
    interval_s = get_json(f"{url}/checkpoints/config", timeout_s)["interval"] / 1000
    started_s = get_json(url, timeout_s)["start-time"] / 1000
    now_s = time.time()
    late = overdue(facts, interval_s, started_s, now_s)
    return judge_checkpoints(facts, now_s, overdue=late, held_by=_held_by(url, facts, timeout_s) if late else "")


def overdue(answer: dict[str, Any], interval_s: float, started_s: float, now_s: float) -> bool:
    """Whether no checkpoint completed within _PERIODS intervals. answer: as in /jobs/ID/checkpoints. started_s, now_s:
    seconds since 1970."""
    allowed_s = _PERIODS * interval_s
    completed = answer["latest"].get("completed")
    if completed is None:
        return now_s - started_s > max(allowed_s, _FIRST_CHECKPOINT_S)
    return bool(now_s - completed["latest_ack_timestamp"] / 1000 > allowed_s)


def _held_by(url: str, answer: dict[str, Any], timeout_s: float) -> str:
    """The sinks that report trouble; else the tasks that the oldest running checkpoint waits for."""
    if problems := troubles(url, timeout_s):
        return "; ".join(problems)
    under_way = [checkpoint["id"] for checkpoint in answer["history"] if checkpoint["status"] == "IN_PROGRESS"]
    if not under_way:
        return ""
    tasks = get_json(f"{url}/checkpoints/details/{min(under_way)}", timeout_s)["tasks"]
    names = {vertex["id"]: vertex["name"] for vertex in get_json(url, timeout_s)["vertices"]}
    waiting = [
        names[task][:80] for task, state in tasks.items() if state["num_acknowledged_subtasks"] < state["num_subtasks"]
    ]
    return f"checkpoint {min(under_way)} waits for " + ", ".join(limited(waiting, _TASKS, "tasks")) if waiting else ""


def judge_checkpoints(answer: dict[str, Any], now_s: float, *, overdue: bool = False, held_by: str = "") -> Diagnosis:
    """answer: as in /jobs/ID/checkpoints. now_s: seconds since 1970. held_by: the cause of the delay, "" if unknown."""
    counts = answer["counts"]
    completed = answer["latest"].get("completed")
    failed = counts["failed"]
    last_failed = answer["latest"].get("failed") or {}
    reason = last_failed.get("failure_message")
    if completed is None:
        text = f"no checkpoint completed yet, {failed} failed"
    else:
        age_s = now_s - completed["latest_ack_timestamp"] / 1000
        text = f"last checkpoint {seconds(age_s)} ago, {counts['completed']:,} completed, {failed:,} failed"
    if failed and reason:
        text += f"; last failure: {reason.splitlines()[0][:200]}"
    if overdue:
        text += f"; held up by {held_by}" if held_by else ""
        return Diagnosis("fail", text, _HELD_UP)
    if completed is None:
        return Diagnosis("warn" if failed else "unknown", text, "read the job's exceptions" if failed else "")
    # A failure from before the newest completed checkpoint is over.
    over = last_failed.get("failure_timestamp", 0) <= completed["latest_ack_timestamp"]
    return Diagnosis("warn" if failed and reason and not over else "ok", text)


def sinks(where: Addresses, timeout_s: float) -> Diagnosis:
    return judge_sinks(troubles(f"{where.flink}/jobs/{_newest(where, timeout_s)}", timeout_s))


def _newest(where: Addresses, timeout_s: float) -> str:
    jobs = get_json(f"{where.flink}/jobs/overview", timeout_s)["jobs"]
    ours = [job for job in jobs if job["name"] == JOB]
    if not ours:
        raise NotAnsweringError(f"there is no job {JOB}")
    return str(max(ours, key=lambda job: (job["state"] == "RUNNING", job["start-time"]))["jid"])
