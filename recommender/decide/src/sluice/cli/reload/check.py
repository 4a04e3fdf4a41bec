"""Whether a configuration file is legal, by the program that will read it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from sluice.cli.reload.programs import Program


@dataclass(frozen=True)
class FileCheck:
    """text: of a legal file, the number of its parts; else the errors, a line each. finds: it also lets the decider
    find pools."""

    legal: bool
    text: str
    finds: bool = False


def check(program: Program, timeout_s: float) -> FileCheck:
    return _decider(program) if program.kind == "decider" else _actuator(program, timeout_s)


def _decider(program: Program) -> FileCheck:
    # It imports the estimators' names, which other commands do not need.
    from sluice.config import ConfigError
    from sluice.decider.config_file import ConfigFile

    try:
        config = ConfigFile(program.file).load()
    except ConfigError as error:
        return FileCheck(False, str(error))
    return FileCheck(True, str(config), config.discovery is not None)


def _actuator(program: Program, timeout_s: float) -> FileCheck:
    """Runs the same program, which may have been replaced on disk since, with --check."""
    command = [f"/proc/{program.pid}/exe", *program.words[1:], "--check"]
    try:
        done = subprocess.run(
            command, cwd=program.folder, env=program.environment, capture_output=True, text=True, timeout=timeout_s
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return FileCheck(False, f"cannot check {program.file}: {error}")
    legal = done.returncode == 0
    return FileCheck(legal, done.stdout.strip().partition(": valid: ")[2] if legal else done.stderr.strip())
