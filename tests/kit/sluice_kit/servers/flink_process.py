"""Processes of Flink's beside the stack's own, configured as those but for what a test changes."""

import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import requests

from sluice_kit.local_stack.driver import Stack
from sluice_kit.machine.processes import running
from stack.installs import FLINK_HOME
from stack.layout import java_home
from stack.settings import load


def configuration(stack: Stack, folder: Path, changed: Mapping[str, object]) -> Path:
    """Makes `folder` a directory of Flink's configuration, with these keys in the place of those of the stack's."""
    folder.mkdir()
    shipped = (load(stack.environment).conf / "flink/config.yaml").read_text()
    kept = [line for line in shipped.splitlines() if line.partition(":")[0] not in changed]
    lines = [*kept, *(f"{key}: {value}" for key, value in changed.items()), ""]
    (folder / "config.yaml").write_text("\n".join(lines))
    for file in ("log4j-console.properties", "log4j-cli.properties"):
        shutil.copy(FLINK_HOME / "conf" / file, folder / file)
    return folder


def environment(stack: Stack, configuration: Path) -> dict[str, str]:
    own = {"FLINK_CONF_DIR": configuration, "FLINK_LOG_DIR": configuration, "FLINK_PID_DIR": configuration}
    return stack.programs | {"JAVA_HOME": str(java_home())} | {key: str(path) for key, path in own.items()}


def flink_process(
    stack: Stack, kind: str, configuration: Path, ready: Callable[[], bool]
) -> AbstractContextManager["subprocess.Popen[bytes]"]:
    """kind: `jobmanager` or `taskmanager`. Its log stands beside `configuration`, with `.log` behind its name."""
    start: list[str | Path] = [FLINK_HOME / f"bin/{kind}.sh", "start-foreground"]
    log = configuration.with_suffix(".log")
    name = f"{kind} {configuration.name}"
    return running(name, start, ready, log, 200, environment(stack, configuration), poll_s=0.5)


def answers(rest: str) -> bool:
    """Whether a JobManager's REST interface at HOST:PORT does."""
    try:
        return requests.get(f"http://{rest}/overview", timeout=5).ok
    except requests.RequestException:
        return False


def is_open(port: int) -> bool:
    with socket.socket() as listener:
        return listener.connect_ex(("127.0.0.1", port)) == 0
