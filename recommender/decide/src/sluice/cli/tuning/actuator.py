"""Runs the command `sluice-actuator tune`, which sets the configuration of each trial."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from sluice.cli.output import CliError

_BUILT = Path(__file__).resolve().parents[6] / ".cache/bin/sluice-actuator"
END_S = 120.0


def binary() -> str:
    """The path of the actuator: SLUICE_ACTUATOR_BINARY, or the one that `make setup` built."""
    path = os.environ.get("SLUICE_ACTUATOR_BINARY") or str(_BUILT)
    if not Path(path).exists():
        raise CliError(f"{path} is missing: build it with `make setup`, or set SLUICE_ACTUATOR_BINARY")
    return path


def command(parameters: Path, session: str, address: str, *more: str) -> Sequence[str]:
    return [binary(), "tune", "--config", str(parameters), "--session", session, "--recommender", address, *more]


def check(parameters: Path, session: str, address: str) -> None:
    """Raises CliError with the problems of the file."""
    done = subprocess.run(
        [*command(parameters, session, address), "--check"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise CliError(*((done.stderr or done.stdout).strip() or f"{parameters} is not legal").split("\n"))


def end(process: subprocess.Popen[bytes]) -> int:
    """Ends the actuator and returns its exit code. It first restores the configuration from before the session."""
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        return process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise CliError(f"the actuator did not end within {END_S:g} s; its last trial may still be in force") from None
