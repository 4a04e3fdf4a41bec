"""Process 1 of the node, in namespaces of its own: it mounts, joins the networks, and runs the servers of a plan.

Usage: unshare --net --mount --pid --fork --mount-proc --kill-child python init.py PLAN. A server that ends is started
again after a second, as an init system does. When process 1 ends, the kernel ends all processes of the node, and takes
its mounts, interfaces, rules and network namespaces away. Standard library only: it runs by its path.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

#: containerd, CNI and the kubelet write here by fixed names. Each gets a layer above the machine's folder.
_SHARED = ("/run", "/var/lib", "/var/log", "/usr/libexec")


def mount(layers: Path) -> None:
    for place in _SHARED:
        upper, work = (layers / place.strip("/").replace("/", "-") / name for name in ("upper", "work"))
        upper.mkdir(parents=True)
        work.mkdir()
        options = f"lowerdir={place},upperdir={upper},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "-o", options, "overlay", place], check=True)


def join_networks(commands: list[list[str]], interface: str) -> None:
    """Runs `commands` once the machine has moved `interface` here."""
    while not Path(f"/proc/sys/net/ipv4/conf/{interface}").exists():
        time.sleep(0.05)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    for command in commands:
        subprocess.run(command, check=True)


def start(name: str, command: list[str], logs: Path) -> int:
    """Its process id. Not by Popen, which would reap servers itself."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    streams = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(logs / f"{name}.log"), flags, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawnp(command[0], command, os.environ, file_actions=streams)


def run(servers: dict[str, list[str]], logs: Path) -> None:
    """Never returns. Reaps what containers leave behind."""
    running = {start(name, command, logs): name for name, command in servers.items()}
    while True:
        pid, status = os.wait()
        if (name := running.pop(pid, None)) is not None:
            print(f"{name} ended with {os.waitstatus_to_exitcode(status)}", flush=True)
            time.sleep(1)
            running[start(name, servers[name], logs)] = name


if __name__ == "__main__":
    plan = json.loads(Path(sys.argv[1]).read_text())
    mount(Path(plan["layers"]))
    join_networks(plan["network"], plan["interface"])
    run(plan["servers"], Path(plan["logs"]))
