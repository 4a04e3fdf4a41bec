"""A stack of its own for benchmarks: Kafka, Flink, ClickHouse, Neo4j by the project's driver; one Flink job at once."""

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stack import environment, processes, settings, starting
from stack.down import down
from stack.flink import Flink
from stack.http import UnreachableError, request, request_json
from stack.keeper import ENDED
from stack.layout import CACHE, FLINK_PYTHON
from stack.report import Report
from stack.settings import REPOSITORY, Settings
from stack.steps import Runner
from stack.supervisor import Supervisor
from stack.up import port_faults

#: Another file can be named, as for tests.
OVERLAY = Path(os.environ.get("SLUICE_BENCH_STACK", Path(__file__).with_name("stack.toml"))).resolve()
RUN = REPOSITORY / "streaming-jobs/jobs/run.py"
#: What is started: nothing may run beside what is measured, and no keeper may submit a job.
STARTED = ("kafka", "topics", "clickhouse", "flink-jobmanager", "flink-taskmanager")
GRAPH = ("neo4j",)
TASKMANAGER = "flink-taskmanager"


class Cluster:
    """A stack that is up. CPU figures are those of the TaskManager's process, as the kernel counts them."""

    def __init__(self, used: Settings) -> None:
        self._settings = used
        self._supervisor = Supervisor(used)
        self._flink = Flink(used)
        self._base = f"http://{used.address('flink_rest')}"
        self.addresses = environment.addresses(used)

    @property
    def kafka(self) -> str:
        return self.addresses["SLUICE_KAFKA"]

    def fresh_taskmanager(self) -> None:
        """Starts the TaskManager again: no job finds what an earlier one left, in classes, memory or compiled code."""
        before = self.taskmanager()
        self._supervisor.restart_process(TASKMANAGER)
        until(lambda: self.taskmanager() not in (0, before) and self._slots(), "a new TaskManager", 120.0)

    def submit(self, script: Path, *words: str, parallelism: int = 1) -> str:
        """Runs `flink run`; the id of the job, once it is running."""
        flink = [str(CACHE / "flink/home/bin/flink"), "run", "-d", "-m", self._settings.address("flink_rest")]
        flink += ["-p", str(parallelism), "-pyexec", str(FLINK_PYTHON), "-pyclientexec", str(FLINK_PYTHON)]
        variables = environment.supervised(self._settings, os.environ) | {"JVM_ARGS": "-Xmx256m", "PYTHONPATH": ""}
        words = (*flink, "-py", str(script), *words)
        done = subprocess.run(words, cwd=REPOSITORY, env=variables, capture_output=True, text=True, timeout=240)
        if done.returncode:
            raise RuntimeError(f"submit {script.name}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
        (job,) = (job.id for job in self._flink.jobs() if job.state not in ENDED)
        until(lambda: self._running(job), f"{script.name} to run", 60.0)
        return job

    def cancel(self, job: str) -> None:
        self._flink.cancel(job)
        until(lambda: all(job.state in ENDED for job in self._flink.jobs()), "the job to end", 60.0)

    def consumed(self, job: str) -> int:
        """Messages of otlp_spans that the job has taken from Kafka."""
        total = 0
        for vertex in request_json(f"{self._base}/jobs/{job}")["vertices"]:
            if "otlp_spans" not in vertex["name"]:
                continue
            url = f"{self._base}/jobs/{job}/vertices/{vertex['id']}/metrics"
            names = [item["id"] for item in request_json(url)]
            wanted = [name for name in names if re.search(r"otlp_spans\.partition\.\d+\.currentOffset$", name)]
            if wanted:
                total += sum(int(item["value"]) + 1 for item in request_json(f"{url}?get={','.join(wanted)}"))
        return total

    def restarts(self, job: str) -> int:
        """How often the job has failed: a figure of a job that did is none."""
        history = request_json(f"{self._base}/jobs/{job}/exceptions?maxExceptions=1")["exceptionHistory"]
        return len(history["entries"])

    def state_bytes(self, job: str) -> int:
        """Size of the first checkpoint that begins from now on."""
        since = time.time() * 1000

        def size() -> int:
            latest = (self._flink.checkpoints(job).get("latest") or {}).get("completed") or {}
            return int(latest["state_size"]) if latest.get("trigger_timestamp", 0) > since else 0

        return int(until(size, "a checkpoint", 60.0))

    def taskmanager(self) -> int:
        """Its process id, or 0."""
        return next((pid for pid, words in self.processes().items() if "TaskManagerRunner" in words), 0)

    def processes(self) -> dict[int, str]:
        """pid -> command line of each program that is not a shell."""
        mine = processes.of_stack(self._settings.state)
        return {pid: words for pid, words in mine.items() if not words.startswith(("bash", "/bin/bash", "sh "))}

    def log_bytes(self, topic: str) -> int:
        """Of the records of a topic, on the broker's disk."""
        folders = (self._settings.state / "data/kafka").glob(f"**/{topic}-*")
        return sum(file.stat().st_size for folder in folders for file in folder.glob("*.log"))

    def _slots(self) -> int:
        try:
            return self._flink.free_slots()
        except UnreachableError:
            return 0

    def _running(self, job: str) -> bool:
        vertices: list[dict[str, Any]] = request_json(f"{self._base}/jobs/{job}")["vertices"]
        return all(vertex["status"] == "RUNNING" for vertex in vertices)

    def query(self, sql: str) -> str:
        """The answer of ClickHouse, as its HTTP interface gives it."""
        parameters = urllib.parse.urlencode({"database": "sluice", "user": "sluice_reader", "query": sql})
        return request(f"{self.addresses['SLUICE_CLICKHOUSE']}/?{parameters}", timeout_s=60.0).decode().strip()


def cpu_s(pid: int) -> float:
    """Seconds of CPU that a process has used, all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def until(probe: Any, what: str, within_s: float) -> Any:
    """The first true answer of `probe`."""
    deadline = time.monotonic() + within_s
    while not (answer := probe()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {within_s:.0f} s in vain for {what}")
        time.sleep(0.2)
    return answer


@contextmanager
def cluster(*, graph: bool, more: tuple[str, ...] = (), overlay: Path = OVERLAY) -> Iterator[Cluster]:
    """Starts the stack, with Neo4j if `graph` and `more` programs; at the end stops it and deletes its data, whatever
    happened.

    Set-up must have been done.
    """
    used = _settings(overlay)
    report = Report()
    wanted = starting.chosen(demo=False, only=(*STARTED, *(GRAPH if graph else ()), *more))
    try:
        down(used, report)
        shutil.rmtree(used.state, ignore_errors=True)
        if faults := port_faults(used, demo=False, report=report):
            raise RuntimeError(faults[0])
        runner = Runner()
        runner.run(starting.steps(used, Supervisor(used), wanted, cancelled=runner.cancelled))
        _migrate(used, graph)
        yield Cluster(used)
    finally:
        down(used, report)
        shutil.rmtree(used.state, ignore_errors=True)


def _migrate(used: Settings, graph: bool) -> None:
    variables = environment.supervised(used, os.environ) | {"PYTHONPATH": str(REPOSITORY / "storage")}
    words = [sys.executable, "-m", "migrate", "up", *([] if graph else ["--only", "clickhouse"])]
    subprocess.run(words, env=variables, check=True, timeout=120, stdout=sys.stderr)


def otlp_http() -> str:
    """Where a collector of a benchmark listens."""
    return _settings().address("otlp_http")


def _settings(overlay: Path = OVERLAY) -> Settings:
    return settings.load({"SLUICE_STACK": str(overlay)})
