"""The command `sluice reload`."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Mapping

import click

from sluice.cli.doctor.finding import NotAnsweringError
from sluice.cli.doctor.probe import get_metrics
from sluice.cli.doctor.targets import read_targets
from sluice.cli.environment import addresses
from sluice.cli.numbers import Number
from sluice.cli.output import EXIT_CODES, CliError, note, say
from sluice.cli.reload.check import FileCheck, check
from sluice.cli.reload.programs import Program, running

_POLL_S = 0.1
_FIRST_READINGS_S = 5.0  # the actuator reads a new target at once; one that does not answer takes its timeout
_NONE = (
    "no decider and no actuator of this stack runs here. Start the local stack with `make up`. In Kubernetes a changed "
    "ConfigMap is taken without a signal, within 10 s after the kubelet has updated the file (a minute or two); to see "
    "the outcome: kubectl exec deployment/sluice-decider -- sluice reload"
)
_OUTCOMES = re.compile(r'^sluice_\w+_reloads_total\{outcome="(\w+)"\} (\S+)$', re.MULTILINE)
_POOLS = re.compile(r"^sluice_decider_pools (\S+)$", re.MULTILINE)


@click.command("reload", epilog=EXIT_CODES)
@click.option(
    "--timeout",
    "timeout_s",
    type=Number(0.1, 600),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="Time to wait for each process.",
)
def reload_command(timeout_s: float) -> None:
    """Let the decider and the actuator read their configuration files again.

    It checks each file first. Where one is not legal, it prints the errors and changes nothing. Then it sends SIGHUP
    and waits until each process tells whether it took its file. It finds the processes of the local stack; within a
    container, those of the container.

    \b
    Example:
      sluice reload
    """
    programs = running(os.environ.get("SLUICE_STATE", ""))
    if not programs:
        raise CliError(_NONE)
    checks = {program: check(program, timeout_s) for program in programs}
    illegal = [(program, checked.text) for program, checked in checks.items() if not checked.legal]
    faults = [f"{program}: {fault}" for program, text in illegal for fault in text.split("\n")]
    if faults:
        note("Nothing changed: every process keeps its old configuration.")
        raise CliError(*faults)
    # A process that still starts takes no signal yet, and would end by it.
    try:
        before = {program: _outcomes(_metrics(program, timeout_s)) for program in programs}
    except NotAnsweringError as error:
        raise CliError(f"{error}; nothing changed. ./sluice doctor checks the process") from None
    for program in programs:
        _signal(program)
    deadline = time.monotonic() + timeout_s
    problems = [_wait(program, checks[program], before[program], deadline) for program in programs]
    if problems := [problem for problem in problems if problem]:
        raise CliError(*problems)


def _signal(program: Program) -> None:
    try:
        os.kill(program.pid, signal.SIGHUP)
    except OSError as error:
        raise CliError(f"signal {program}: {error}") from None


def _wait(program: Program, checked: FileCheck, before: Mapping[str, float], deadline: float) -> str:
    """Prints the outcome, or returns the problem."""
    while True:
        try:
            page = _metrics(program, 2.0)
        except NotAnsweringError:
            page = ""
        new = [name for name, count in _outcomes(page).items() if count > before.get(name, 0)]
        if "refused" in new:
            return f"{program} refused {program.file}: its log has the cause; the old configuration stays"
        if new:
            part = "; other sections than `targets` changed and count from its next start" if "partly" in new else ""
            pools = _POOLS.search(page) if checked.finds else None
            now = f"; it decides {float(pools[1]):.0f} pools now" if pools else ""
            unread = _unread(program, deadline) if program.kind == "actuator" else ""
            say(f"{program} took {program.file}: {checked.text}{part}{now}{unread}")
            return ""
        if time.monotonic() > deadline:
            return f"{program} did not tell in time whether it took {program.file}: read its log"
        time.sleep(_POLL_S)


def _unread(program: Program, deadline: float) -> str:
    """How many of an actuator's targets cannot be read; "" for none, and where it does not tell."""
    deadline = min(deadline, time.monotonic() + _FIRST_READINGS_S)
    try:
        targets = read_targets(_address(program), 2.0)
        while not all(target.read for target in targets) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
            targets = read_targets(_address(program), 2.0)
    except NotAnsweringError:
        return ""
    unread = sum(bool(target.error) for target in targets)
    return f"; {unread} target{'s' * (unread > 1)} cannot be read: see ./sluice doctor" if unread else ""


def _metrics(program: Program, timeout_s: float) -> str:
    """The page of its metrics. Raises NotAnsweringError."""
    return get_metrics(_address(program), timeout_s)


def _address(program: Program) -> str:
    fallback = addresses().decider if program.kind == "decider" else addresses().actuator
    return program.environment.get("SLUICE_HEALTH") or fallback


def _outcomes(page: str) -> dict[str, float]:
    """How often the program of these metrics read its file again, by outcome."""
    return {name: float(count) for name, count in _OUTCOMES.findall(page)}
