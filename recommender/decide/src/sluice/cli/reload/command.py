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
from sluice.cli.environment import addresses
from sluice.cli.output import EXIT_CODES, CliError, say
from sluice.cli.reload.check import Verdict, check
from sluice.cli.reload.programs import Program, running

_POLL_S = 0.1
_NONE = (
    "no decider and no actuator of this stack runs here. Start the local stack with `make up`. In Kubernetes a changed "
    "ConfigMap is taken without a signal, within 10 s after the kubelet has updated the file (a minute or two); to see "
    "the outcome: kubectl exec deployment/sluice-decider -- sluice reload"
)
_OUTCOMES = re.compile(r'^sluice_\w+_reloads_total\{outcome="(\w+)"\} (\S+)$', re.MULTILINE)


@click.command("reload", epilog=EXIT_CODES)
@click.option("--timeout", "timeout_s", type=click.FloatRange(0.1, 600), default=20.0, show_default=True, metavar="S")
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
    verdicts = {program: check(program, timeout_s) for program in programs}
    faults = [f"{program}: {verdict.text}" for program, verdict in verdicts.items() if not verdict.legal]
    if faults:
        raise CliError(*faults, "nothing changed: every process keeps its old configuration")
    before = {program: _outcomes(program, timeout_s) for program in programs}
    for program in programs:
        _signal(program)
    deadline = time.monotonic() + timeout_s
    problems = [_wait(program, verdicts[program], before[program], deadline) for program in programs]
    if problems := [problem for problem in problems if problem]:
        raise CliError(*problems)


def _signal(program: Program) -> None:
    try:
        os.kill(program.pid, signal.SIGHUP)
    except OSError as error:
        raise CliError(f"signal {program}: {error}") from None


def _wait(program: Program, verdict: Verdict, before: Mapping[str, float], deadline: float) -> str:
    """Prints the outcome, or returns the problem."""
    while True:
        new = [name for name, n in _outcomes(program, 2.0).items() if n > before.get(name, 0)]
        if "refused" in new:
            return f"{program} refused {program.file}: its log has the cause; the old configuration stays"
        if new:
            part = "; other sections than `targets` changed and count from its next start" if "partly" in new else ""
            say(f"{program} took {program.file}: {verdict.text}{part}")
            return ""
        if time.monotonic() > deadline:
            return f"{program} did not tell in time whether it took {program.file}: read its log"
        time.sleep(_POLL_S)


def _outcomes(program: Program, timeout_s: float) -> dict[str, float]:
    """How often it read its file again, by outcome; {} where its metrics do not answer."""
    fallback = addresses().decider if program.kind == "decider" else addresses().actuator
    try:
        text = get_metrics(program.environment.get("SLUICE_HEALTH") or fallback, timeout_s)
    except NotAnsweringError:
        return {}
    return {name: float(count) for name, count in _OUTCOMES.findall(text)}
