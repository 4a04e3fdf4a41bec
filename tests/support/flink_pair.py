"""A Flink cluster beside the stack's own, with two JobManagers, a ZooKeeper that says who leads, and a TaskManager."""

import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from stack.configs import QUICK
from stack.flink import options
from stack.installs import FLINK_HOME
from stack.layout import FLINK_PYTHON, java_home
from stack.settings import REPOSITORY, load
from support.ports import free_ports
from support.processes import running
from support.stack import Stack
from support.waiting import until

ZOOKEEPER = "org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServerMain"
LEADS = "was granted leadership"


def configured(config: str, changed: Mapping[str, object]) -> str:
    """Flink's flat configuration with these keys in the place of those that it has."""
    kept = [line for line in config.splitlines() if line.partition(":")[0] not in changed]
    return "\n".join([*kept, *(f"{key}: {value}" for key, value in changed.items()), ""])


@dataclass(frozen=True)
class JobManager:
    process: "subprocess.Popen[bytes]"
    rest: str
    configuration: Path
    log: Path

    def leads(self) -> bool:
        return LEADS in self.log.read_text(errors="replace")

    def says(self, path: str) -> Any:
        """Of a JobManager that does not lead, what the leader says."""
        answer = requests.get(f"http://{self.rest}/{path}", timeout=10)
        answer.raise_for_status()
        return answer.json()


class FlinkPair:
    """A leader and an heir that waits."""

    def __init__(self, stack: Stack, leader: JobManager, heir: JobManager) -> None:
        self._stack = stack
        self.leader, self.heir = leader, heir

    def run(self, *words: str) -> str:
        """Runs run.py with `words`, by whoever leads, and returns the job's id once all of its tasks run."""
        command: list[str | Path] = [FLINK_HOME / "bin/flink", "run", "-d", "-pyexec", FLINK_PYTHON]
        command += ["-pyclientexec", FLINK_PYTHON, "-py", REPOSITORY / "streaming-jobs/jobs/run.py", *words]
        command += options(load(self._stack.environment))
        told = environment(self._stack, self.leader.configuration) | {"JVM_ARGS": "-Xmx256m"}
        done = subprocess.run(command, env=told, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        until(f"{' '.join(words)} runs", lambda: self.runs(self.leader))
        (job,) = self.leader.says("jobs/overview")["jobs"]
        return str(job["jid"])

    def runs(self, told_by: JobManager) -> bool:
        """Whether every task of a job runs, as this one says."""
        try:
            jobs = told_by.says("jobs/overview")["jobs"]
        except requests.RequestException:
            return False  # nobody leads
        return any(job["tasks"]["running"] == job["tasks"]["total"] > 0 for job in jobs)

    def checkpoints(self, told_by: JobManager, job: str) -> dict[str, Any]:
        return dict(told_by.says(f"jobs/{job}/checkpoints"))

    def kill_leader(self) -> None:
        self.leader.process.kill()
        self.leader.process.wait()


def environment(stack: Stack, configuration: Path) -> dict[str, str]:
    own = {"FLINK_CONF_DIR": configuration, "FLINK_LOG_DIR": configuration, "FLINK_PID_DIR": configuration}
    return stack.environment | {"JAVA_HOME": str(java_home())} | {key: str(path) for key, path in own.items()}


def _zookeeper(folder: Path, port: int) -> list[str | Path]:
    config = folder / "zoo.cfg"
    config.write_text(
        f"tickTime=1000\ndataDir={folder}/zookeeper\nclientPort={port}\nclientPortAddress=127.0.0.1\n"
        "admin.enableServer=false\n"
    )
    jars = FLINK_HOME / "lib/*"
    return [java_home() / "bin/java", "-Xmx64m", *QUICK, "-Dzookeeper.admin.enableServer=false", "-cp", jars, ZOOKEEPER]


def _open(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def flink_pair(stack: Stack, folder: Path) -> Iterator[FlinkPair]:
    """Configured as streaming-jobs/README.md says; else as the stack's."""
    shipped = (load(stack.environment).conf / "flink/config.yaml").read_text()
    zookeeper, data, worker, *ports = free_ports(7)
    common = {
        "high-availability.type": "zookeeper",
        "high-availability.zookeeper.quorum": f"127.0.0.1:{zookeeper}",
        "high-availability.zookeeper.client.session-timeout": "10 s",
        "high-availability.storageDir": f"file://{folder}/leaders",
        "high-availability.cluster-id": "/sluice",
        "execution.checkpointing.dir": f"file://{folder}/checkpoints",
        "io.tmp.dirs": folder / "tmp",
        "blob.server.port": 0,
        "taskmanager.data.port": data,
        "taskmanager.rpc.port": worker,
    }
    (folder / "tmp").mkdir()

    def conf(name: str, **changed: object) -> Path:
        path = folder / name
        path.mkdir()
        own = {key.replace("_", "."): value for key, value in changed.items()}
        (path / "config.yaml").write_text(configured(shipped, common | own))
        for file in ("log4j-console.properties", "log4j-cli.properties"):
            shutil.copy(FLINK_HOME / "conf" / file, path / file)
        return path

    with ExitStack() as up:
        command = _zookeeper(folder, zookeeper)
        words = [*command, folder / "zoo.cfg"]
        up.enter_context(running("ZooKeeper", words, lambda: _open(zookeeper), folder / "zookeeper.log", 60))

        def job_manager(name: str, rest: int, rpc: int) -> JobManager:
            at = f"127.0.0.1:{rest}"
            path = conf(name, rest_port=rest, **{"rest.bind-port": rest, "high-availability.jobmanager.port": rpc})
            log = folder / f"{name}.log"

            def ready() -> bool:
                try:
                    return requests.get(f"http://{at}/overview", timeout=5).ok
                except requests.RequestException:
                    return False

            start: list[str | Path] = [FLINK_HOME / "bin/jobmanager.sh", "start-foreground"]
            process = running(name, start, ready, log, 200, environment(stack, path), poll_s=0.5)
            return JobManager(up.enter_context(process), at, path, log)

        leader = job_manager("leader", *ports[:2])
        heir = job_manager("heir", *ports[2:])
        assert (leader.leads(), heir.leads()) == (True, False)
        start: list[str | Path] = [FLINK_HOME / "bin/taskmanager.sh", "start-foreground"]
        path = conf("worker")
        process = running("worker", start, lambda: _open(data), folder / "worker.log", 200, environment(stack, path))
        up.enter_context(process)
        until("the worker is known", lambda: leader.says("overview")["taskmanagers"] == 1)
        yield FlinkPair(stack, leader, heir)
