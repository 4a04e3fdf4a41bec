"""The processes of the stack as programs.toml declares them, and supervisord's configuration for them."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from string import Template
from typing import Any

from stack.layout import LOCAL

TABLE = LOCAL / "programs.toml"
SOCKET = "control.sock"
LASTING_S = 10  # a program that ended sooner is started again only after a pause
LOG_BYTES = 20_000_000
LOG_BACKUPS = 2


@dataclass(frozen=True)
class Program:
    """One table of programs.toml, where the fields are explained."""

    name: str
    does: str
    command: str
    after: tuple[str, ...] = ()
    ready: str = ""
    shown: str = ""
    once: bool = False
    stop_within_s: int = 20


def parse(text: str) -> dict[str, Program]:
    """Raises TypeError for a key that a program does not have."""
    tables: dict[str, dict[str, Any]] = tomllib.loads(text)
    return {
        name: Program(**{**keys, "name": name, "after": tuple(keys.get("after", ()))}) for name, keys in tables.items()
    }


def load() -> dict[str, Program]:
    """Every program by its name, each after those that it waits for."""
    return parse(TABLE.read_text())


def selected(programs: Mapping[str, Program], names: Sequence[str]) -> dict[str, Program]:
    """`names` and all programs that they wait for."""
    wanted = set(names)
    while more := {before for name in wanted for before in programs[name].after if before in programs} - wanted:
        wanted |= more
    return {name: program for name, program in programs.items() if name in wanted}


def levels(programs: Mapping[str, Program]) -> list[list[str]]:
    """Supervised programs in groups: each waits for programs of earlier groups only.

    Raises graphlib.CycleError, a ValueError.
    """
    order = TopologicalSorter(
        {name: [before for before in program.after if before in programs] for name, program in programs.items()}
    )
    order.prepare()
    groups = []
    while order.is_active():
        ready = order.get_ready()
        order.done(*ready)
        groups.append([name for name in ready if not programs[name].once])
    return [group for group in groups if group]


def expanded(command: str, variables: Mapping[str, str]) -> str:
    """`command` on one line, its ${NAME} replaced. Raises KeyError for one that is not in `variables`."""
    return " ".join(Template(command).substitute(variables).split())


def configuration(programs: Mapping[str, Program], variables: Mapping[str, str], directory: Path, logs: Path) -> str:
    """supervisord's configuration: it listens on SOCKET in the directory it runs in, and starts nothing by itself.

    variables: of the environment, for the commands. directory: where programs run.
    """
    sections: dict[str, dict[str, object]] = {
        # Through /proc: the path to a state directory can be longer than a socket's address may be.
        "unix_http_server": {"file": f"/proc/self/cwd/{SOCKET}", "chmod": "0600"},
        "supervisord": {
            "logfile": logs / "supervisord.log",
            "logfile_maxbytes": LOG_BYTES,
            "logfile_backups": LOG_BACKUPS,
            "pidfile": "supervisord.pid",
            "nodaemon": "true",
            "silent": "true",
        },
        "rpcinterface:supervisor": {
            "supervisor.rpcinterface_factory": "supervisor.rpcinterface:make_main_rpcinterface"
        },
        "rpcinterface:restarts": {"supervisor.rpcinterface_factory": "supervise:make"},
    }
    # supervisord ends one group after the other, the highest priority first: no program ends while another needs it.
    for priority, names in enumerate(levels(programs)):
        sections[f"group:{priority}"] = {"programs": ",".join(names), "priority": priority}
        for name in names:
            sections[f"program:{name}"] = {
                "command": expanded(programs[name].command, variables),
                "directory": directory,
                "autostart": "false",
                "autorestart": "true",
                "startsecs": LASTING_S,
                "startretries": 1_000_000,
                "stopwaitsecs": programs[name].stop_within_s,
                "stopasgroup": "true",
                "redirect_stderr": "true",
                "stdout_logfile": logs / f"{name}.log",
                "stdout_logfile_maxbytes": LOG_BYTES,
                "stdout_logfile_backups": LOG_BACKUPS,
            }
    return "\n".join(
        f"[{section}]\n" + "".join(f"{key} = {_escaped(value)}\n" for key, value in keys.items())
        for section, keys in sections.items()
    )


def _escaped(value: object) -> str:
    """supervisord reads % as a format, and text behind a semicolon as a comment."""
    text = str(value).replace("%", "%%")
    if " ;" in text or "\n" in text:
        raise ValueError(f"supervisord cannot read {text!r}")
    return text
