"""Processes of a local stack that a signal holds: they answer nobody, and nobody starts them again."""

import os
from collections.abc import Iterable

from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.environment import Addresses
from sluice.cli.supervised import LocalProcess, name_of, of_stack


def suspended(where: Addresses, timeout_s: float) -> Diagnosis:
    state = os.environ.get("SLUICE_STATE", "")
    return judge_suspended(of_stack(state) if state else [])


def judge_suspended(processes: Iterable[LocalProcess]) -> Diagnosis:
    held = [process for process in processes if process.suspended]
    if not held:
        return Diagnosis("ok", "none")
    names = ", ".join(f"{name_of(process)} ({process.pid})" for process in held)
    return Diagnosis("fail", f"held by a signal: {names}", f"kill -CONT {' '.join(str(one.pid) for one in held)}")
