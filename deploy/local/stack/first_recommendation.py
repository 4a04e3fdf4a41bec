"""Waits for the first recommendation for the demo's pools, and shows it."""

import json
import time
from collections import Counter
from typing import Any

from stack.report import Report
from stack.settings import Settings
from stack.sluice import sluice
from stack.steps import StepError

WITHIN_S = 240.0
DECIDED = {"PROVIDED", "GUARDED"}


def decided(pools: list[dict[str, Any]]) -> bool:
    """Whether a pool of `sluice pools list -o json` has a size that its curve shows, or a new one to apply."""
    return any(pool.get("state") in DECIDED or pool.get("action") == "APPLY" for pool in pools)


def wait_for_recommendation(settings: Settings, report: Report) -> None:
    """Polls the CLI, as a user would. Raises StepError after WITHIN_S."""
    deadline = time.monotonic() + WITHIN_S
    reported = ""
    while time.monotonic() < deadline:
        answer = sluice(settings, "pools", "list", "-o", "json")
        try:
            pools = json.loads(answer.stdout) if answer.returncode == 0 else []
        except ValueError:
            pools = []
        if decided(pools):
            report.step("ok", "recommendation", "the first one is there:")
            show(settings, report)
            return
        states = Counter(str(pool.get("state")) for pool in pools)
        text = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        text = text or (answer.stderr.strip().splitlines() or ["no pool is known yet"])[-1][:90]
        if text != reported:
            report.step("..", "recommendation", f"{text} (at most {WITHIN_S:.0f} s)")
            reported = text
        time.sleep(1.0)
    if "UNSATURATED" in reported:
        report.step("ok", "recommendation", "no pool is at its limit: sizes are kept as they are")
        show(settings, report)
        return
    raise StepError(
        f"no recommendation within {WITHIN_S:.0f} s",
        log=settings.logs / "decider.log",
        advice="`./sluice doctor` and `make status` say which stage is behind",
    )


def show(settings: Settings, report: Report) -> None:
    report.line()
    for text in sluice(settings, "pools", "list").stdout.splitlines():
        report.line(f"  {text}")
    next_steps(report)


def next_steps(report: Report) -> None:
    report.line()
    for command, purpose in (
        ("./sluice pools explain POOL", "why this size: the evidence, the threshold, the reasons"),
        ("./sluice sql 'SELECT ...'", "the windows behind it"),
        ("./sluice replay FILE", "sends traces that you recorded to this stack"),
        ("make status", "what is up, and each stage's lag"),
        ("make down", "stops everything, keeps the data"),
    ):
        report.line(f"  {command:<30} {purpose}")
