"""A Docker daemon and Compose in namespaces of their own: interfaces, rules and containers end with one process."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice_kit.machine.processes import running

_PACKAGES = {"dockerd": "docker.io", "docker-compose": "docker-compose", "ip": "iproute2", "unshare": "util-linux"}
_CGROUPS = Path("/sys/fs/cgroup")
#: The parent of the containers' cgroups: those of another daemon are not touched.
_PARENT = "sluice-docker"


def missing() -> list[str]:
    """What this machine lacks, with the remedy."""
    if os.geteuid() != 0:
        return ["root: containers need it"]
    packages = sorted({package for program, package in _PACKAGES.items() if shutil.which(program) is None})
    return [f"packages: apt-get install --no-install-recommends {' '.join(packages)}"] if packages else []


@contextmanager
def daemon() -> Iterator[str]:
    """The daemon's address. Its data are deleted at the end."""
    # Layers need a disk; /tmp may be memory.
    with tempfile.TemporaryDirectory(prefix="sluice-docker-", dir="/var/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        socket = folder / "socket"
        start = (
            "ip link set lo up; mount --make-rprivate /; mount -t tmpfs none /run; "
            f"exec dockerd --data-root {folder}/data --exec-root {folder}/exec --pidfile {folder}/pid "
            f"--cgroup-parent {_PARENT} -H unix://{socket}"
        )
        command = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", start]
        address = f"unix://{socket}"

        def answers() -> bool:
            return (
                subprocess.run(["docker", "-H", address, "version"], capture_output=True, check=False).returncode == 0
            )

        try:
            with running("dockerd", command, answers, folder / "log", 120.0, stop_s=10.0, poll_s=0.5) as process:
                try:
                    yield address
                finally:  # `unshare` ignores SIGTERM
                    for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                        os.kill(int(child), signal.SIGTERM)
                    process.wait(60.0)
        finally:
            for group in sorted(_CGROUPS.glob(f"**/{_PARENT}"), key=lambda path: -len(path.parts)):
                for below in sorted(group.glob("**/"), key=lambda path: -len(path.parts)):
                    below.rmdir()


@dataclass(frozen=True)
class Compose:
    """The project in a copy of deploy/compose. `variables` override `.env`."""

    docker: str
    folder: Path
    variables: Mapping[str, str]

    def run(self, *words: str, timeout_s: float = 1800.0, **more: str) -> str:
        """docker-compose; what it prints. Raises AssertionError with it."""
        done = subprocess.run(
            ["docker-compose", *words],
            cwd=self.folder,
            env=os.environ | {"DOCKER_HOST": self.docker} | self.variables | more,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
        )
        assert done.returncode == 0, f"docker-compose {' '.join(words)}: {done.stdout[-3000:]}"
        return done.stdout

    def load(self, archive: Path) -> None:
        words = ["docker", "-H", self.docker, "load", "--quiet", "--input", str(archive)]
        subprocess.run(words, check=True, timeout=1800, capture_output=True)

    def states(self) -> dict[str, dict[str, Any]]:
        """The state of each service's container, as `docker inspect` has it."""
        names = self.run("ps", "-q").split()
        answer = subprocess.run(
            ["docker", "-H", self.docker, "inspect", *names], check=True, capture_output=True, timeout=120
        ).stdout
        return {one["Config"]["Labels"]["com.docker.compose.service"]: one for one in json.loads(answer)}

    def healthy(self, service: str) -> bool:
        state = self.states().get(service, {}).get("State", {})
        return bool(state.get("Health", {}).get("Status") == "healthy")

    def kill(self, service: str) -> None:
        """SIGKILL to the process. `docker kill` counts as a stop by hand, after which nothing starts it again."""
        within = self.states()[service]["State"]["Pid"]
        for status in Path("/proc").glob("[0-9]*/status"):
            numbers = status.read_text().partition("NSpid:")[2].partition("\n")[0].split()
            # Its number here, in the daemon's namespace, and in its own, where it is the first.
            if numbers[1:] == [str(within), "1"]:
                os.kill(int(numbers[0]), signal.SIGKILL)
                return
        raise AssertionError(f"{service} has no process {within}")
