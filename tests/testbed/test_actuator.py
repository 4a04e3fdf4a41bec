"""The testbed's actuator on the cases that the shipped one passes too."""

import json
from pathlib import Path
from typing import Any

import pytest

from testbed.actuator import Advice, Decision, Replica, Rules, Writes, decide

FILE = Path(__file__).parents[1] / "contract/decisions/apply.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_decides_as_the_shipped_actuator(case: dict[str, Any]) -> None:
    replica = Replica(
        case.get("instance", ""),
        size_of(case["current"]),
        Writes(**(case["writes"] or {})),
        tuple(case.get("known", ())),
    )
    assert decide(rules_of(case["rules"]), answer_of(case), replica, case["now_ms"]) == Decision(**case["decision"])


def rules_of(given: dict[str, Any]) -> Rules:
    """A case has a limit of writes where it names one."""
    quiet = tuple(minutes(*item.split("-")) for item in given.get("quiet", ()))
    return Rules(**{"per_hour": 0, **given, "quiet": quiet})


def minutes(*times: str) -> tuple[int, ...]:
    """Of the day: 22:00 is 1320."""
    return tuple(60 * int(time[:2]) + int(time[3:]) for time in times)


def answer_of(case: dict[str, Any]) -> Advice | None:
    if not case["answer"]:
        return None
    sizes = tuple((reported["instance"], size_of(reported["size"])) for reported in case["answer"].get("sizes", []))
    lists = {name: tuple(case["answer"].get(name, ())) for name in ("targets", "reasons")}
    return Advice(**{**case["answer"], "sizes": sizes, **lists})


def size_of(read: int | str) -> int | None:
    return None if read == "unbounded" else int(read)


def test_each_case_has_a_name_of_its_own() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES)


def test_steps_lead_to_the_target_a_cool_down_apart() -> None:
    rules, answer, writes, size = Rules(2, 128, cooldown_ms=3_000), Advice("APPLY", 12, 10**9), Writes(), 128
    records = []
    for now_ms in range(0, 20_000, 1000):
        writes = writes.read(size)
        decision = decide(rules, answer, Replica("", size, writes), now_ms)
        if decision.action == "apply":
            size, writes = decision.size, writes.next(decision.size, now_ms)
            records.append((now_ms, size))
    assert records == [(0, 64), (3000, 32), (6000, 16), (9000, 12)]


def test_the_same_size_again_waits_for_ever_longer_and_at_most_64_cool_downs() -> None:
    writes, waits = Writes(), []
    for _ in range(9):
        writes = writes.next(12, 0)
        waits.append(writes.wait_ms(12, 1))
    assert waits == [1, 2, 4, 8, 16, 32, 64, 64, 64]
    assert writes.wait_ms(13, 1) == 1
    assert writes.next(13, 0).repeats == 1


def test_somebody_who_keeps_changing_the_size_is_answered_ever_more_rarely() -> None:
    rules, answer, writes, size = Rules(2, 128, cooldown_ms=3_000), Advice("APPLY", 12, 10**9), Writes(), 12
    writes = writes.next(12, 0)
    records = []
    for now_ms in range(1000, 60_000, 1000):
        writes = writes.read(size)
        size = 120
        decision = decide(rules, answer, Replica("", size, writes), now_ms)
        if decision.action == "apply":
            size, writes = decision.size, writes.next(decision.size, now_ms)
            records.append((now_ms, size))
    assert records == [(1000, 12), (7000, 12), (19_000, 12), (43_000, 12)]


def test_a_size_that_took_its_time_is_kept_all_the_same() -> None:
    writes = Writes().next(12, 0).read(64)
    assert writes.kept == 0
    writes = writes.read(12).read(200).read(None)
    assert writes.kept == 12
    assert writes.next(6, 5000).read(12).kept == 12
