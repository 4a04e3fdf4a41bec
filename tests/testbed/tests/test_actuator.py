"""The testbed's actuator on the cases that the shipped one passes too."""

import json
from pathlib import Path
from typing import Any

import pytest

from testbed.actuator import Advice, Decision, Rules, Writes, decide

FILE = Path(__file__).parents[2] / "contract/decisions/apply.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_decides_as_the_shipped_actuator(case: dict[str, Any]) -> None:
    answer = Advice(**case["answer"]) if case["answer"] else None
    current = None if case["current"] == "unbounded" else case["current"]
    writes = Writes(**case["writes"]) if case["writes"] else Writes()
    assert decide(Rules(**case["rules"]), answer, current, writes, case["now_ms"]) == Decision(**case["decision"])


def test_each_case_has_a_name_of_its_own() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES)


def test_steps_lead_to_the_target_a_cool_down_apart() -> None:
    rules, answer, writes, size = Rules(2, 128), Advice("APPLY", 12, 10**9), Writes(), 128
    seen = []
    for now_ms in range(0, 20_000, 1000):
        decision = decide(rules, answer, size, writes, now_ms)
        if decision.action == "apply":
            size, writes = decision.size, writes.next(decision.size, now_ms)
            seen.append((now_ms, size))
    assert seen == [(0, 64), (3000, 32), (6000, 16), (9000, 12)]


def test_the_same_size_again_waits_for_ever_longer_and_at_most_64_cool_downs() -> None:
    writes, waits = Writes(), []
    for _ in range(9):
        writes = writes.next(12, 0)
        waits.append(writes.wait_ms(12, 1))
    assert waits == [1, 2, 4, 8, 16, 32, 64, 64, 64]
    assert writes.wait_ms(13, 1) == 1
    assert writes.next(13, 0).repeats == 1
