"""The autoscaler's order of changes, and what of a run is judged."""

import threading
import time
from typing import Any

import pytest

from bench.beside_autoscaler import hardware
from bench.beside_autoscaler.arms import AFTER, SHIPPED_ALONE
from bench.beside_autoscaler.hardware import Autoscaler
from bench.beside_autoscaler.judged import judged, table
from testbed.windows import latency_index


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    for name in ("PERIOD_S", "STABLE_S", "READY_S"):
        monkeypatch.setattr(hardware, name, 0.01)
    return []


def scaled(steps: list[str], used: list[float], soft_first: bool) -> list[str]:
    """used: cores in use in each look; over once there is none left."""
    over, spent, last = threading.Event(), 0.0, time.monotonic()

    def used_s() -> float:
        nonlocal spent, last
        now = time.monotonic()
        if used:
            spent += used.pop(0) * (now - last)
        else:
            over.set()
        last = now
        return spent

    Autoscaler(
        lambda cores: steps.append(f"{cores} in force"), lambda cores: steps.append(f"{cores} told"), used_s, soft_first
    ).run(over)
    return steps


BEGUN = ["0.3 in force", "0.3 told"]


@pytest.mark.parametrize(
    ("soft_first", "grown"),
    [(False, ["0.4 in force", "0.4 told"]), (True, ["0.4 told", "0.4 in force"])],
)
def test_growth_is_told_when_it_is_in_force_or_when_it_is_decided(
    steps: list[str], soft_first: bool, grown: list[str]
) -> None:
    # Of 0.3 cores all: ceil(3 x 1.0 / 0.8) = 4 tenths. The second of a pair is read once the change is in force.
    assert scaled(steps, [0.0, 0.3], soft_first)[:4] == BEGUN + grown


def test_what_shrinks_is_told_first(steps: list[str]) -> None:
    assert scaled(steps, [0.0, 0.3, 0.0, 0.0], False)[4:6] == ["0.3 told", "0.3 in force"]


def second(at: int, times: dict[int, int], good: int = 0) -> dict[str, Any]:
    latency = {str(latency_index(ms * 10**6)): count for ms, count in times.items()}
    return {
        "at": at, "responses": sum(times.values()), "good": good, "failed": 0, "latency_ms": 0.0, "late_ms": 1.0,
        "latency": latency,
    }  # fmt: skip


def run(arm: str, slow_ms: int) -> dict[str, Any]:
    """7 s; in the first one all is 3 s late, later 2 of 20 responses are `slow_ms`."""
    seconds = [second(100, {3000: 20}), *(second(at, {10: 18, slow_ms: 2}, good=18) for at in range(101, 108))]
    return {
        "arm": arm, "seed": 1, "threads": 200, "seconds": seconds, "limits": [(95.0, 0.3), (103.5, 0.5)],
        "sizes": [(95.0, 200)], "used_cores": 0.25, "behind_s": 2.0,
    }  # fmt: skip


def test_the_first_burst_is_judged_apart() -> None:
    found = judged(run("hardware-shipped", 500))
    assert found.p99_ms == pytest.approx(3000, rel=0.011)
    assert found.known_p99_ms == pytest.approx(500, rel=0.011)
    assert found.known_good_per_s == 18
    assert found.limit_cores == pytest.approx(0.4)


def test_the_table_has_the_ratio_of_each_seed() -> None:
    sweep = {"good": {"0.3": {"4": 10.0}, "0.8": {"4": 20.0}}, "sized": 4}
    text = table([run(SHIPPED_ALONE.name, 1000), run(AFTER.name, 250)], sweep)
    assert "| sluice-after | hardware-shipped | 1.00 | 0.25 | 1.00 |" in text
    assert "cores 0.3 at -5, 0.5 at 4; threads 200 at -5." in text
    assert text.endswith("late by 1 ms at most, the stack 2 s behind its spans.\n")
