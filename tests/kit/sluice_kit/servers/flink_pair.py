"""A Flink cluster beside the stack's own, with two JobManagers, a ZooKeeper that says who leads, and a TaskManager."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from sluice_kit.local_stack.driver import Stack
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.servers.flink_process import answers, configuration, environment, flink_process, is_open
from sluice_kit.waiting import until
from stack.configs import QUICK
from stack.flink import options
from stack.installs import FLINK_HOME
from stack.layout import FLINK_PYTHON, java_home
from stack.settings import REPOSITORY, load

ZOOKEEPER = "org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServerMain"
LEADS = "was granted leadership"


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
        variables = environment(self._stack, self.leader.configuration) | {"JVM_ARGS": "-Xmx256m"}
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        until(f"{' '.join(words)} runs", lambda: self.runs(self.leader))
        (job,) = self.leader.says("jobs/overview")["jobs"]
        return str(job["jid"])

    def runs(self, manager: JobManager) -> bool:
        """Whether every task of a job runs, as this one says."""
        try:
            jobs = manager.says("jobs/overview")["jobs"]
        except requests.RequestException:
            return False  # nobody leads
        return any(job["tasks"]["running"] == job["tasks"]["total"] > 0 for job in jobs)

    def checkpoints(self, manager: JobManager, job: str) -> dict[str, Any]:
        return dict(manager.says(f"jobs/{job}/checkpoints"))

    def kill_leader(self) -> None:
        self.leader.process.kill()
        self.leader.process.wait()


def _zookeeper(folder: Path, port: int) -> list[str | Path]:
    config = folder / "zoo.cfg"
    config.write_text(
        f"tickTime=1000\ndataDir={folder}/zookeeper\nclientPort={port}\nclientPortAddress=127.0.0.1\n"
        "admin.enableServer=false\n"
    )
    jars = FLINK_HOME / "lib/*"
    return [java_home() / "bin/java", "-Xmx64m", *QUICK, "-Dzookeeper.admin.enableServer=false", "-cp", jars, ZOOKEEPER]


@contextmanager
def flink_pair(stack: Stack, folder: Path) -> Iterator[FlinkPair]:
    """Configured as docs/jobs-in-pods.md says; else as the stack's."""
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
        return configuration(stack, folder / name, common | changed)

    with ExitStack() as up:
        command = _zookeeper(folder, zookeeper)
        words = [*command, folder / "zoo.cfg"]
        up.enter_context(running("ZooKeeper", words, lambda: is_open(zookeeper), folder / "zookeeper.log", 60))

        def job_manager(name: str, rest: int, rpc: int) -> JobManager:
            at = f"127.0.0.1:{rest}"
            ports = {"rest.port": rest, "rest.bind-port": rest, "high-availability.jobmanager.port": rpc}
            path = conf(name, **ports)
            process = flink_process(stack, "jobmanager", path, lambda: answers(at))
            return JobManager(up.enter_context(process), at, path, folder / f"{name}.log")

        leader = job_manager("leader", *ports[:2])
        heir = job_manager("heir", *ports[2:])
        assert (leader.leads(), heir.leads()) == (True, False)
        up.enter_context(flink_process(stack, "taskmanager", conf("worker"), lambda: is_open(data)))
        until("the worker is known", lambda: leader.says("overview")["taskmanagers"] == 1)
        yield FlinkPair(stack, leader, heir)
