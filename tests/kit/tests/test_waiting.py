"""Waits end when nothing moves: on a clock and a watch that are made up."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from sluice_kit import waiting
from sluice_kit.waiting import PATIENCE_S, STILL_S, Patience, eventually, settled


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Watch:
    at: float = 0.0
    given_up: list[float] = field(default_factory=list)

    def moved_at(self) -> float:
        return self.at

    def gave_up(self, still_s: float) -> None:
        self.given_up.append(still_s)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(waiting, "time", type("Time", (), {"monotonic": clock, "sleep": clock.sleep}))
    return clock


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    monkeypatch.setattr(waiting, "watch", watch)
    return watch


def test_a_wait_goes_on_while_the_stack_moves_and_ends_when_it_rests(clock: Clock, watch: Watch) -> None:
    patience = Patience()
    for at in range(0, int(PATIENCE_S) - int(STILL_S), 5):
        clock.now = watch.at = float(at)
        assert not patience.is_over("the same")
    clock.now += STILL_S - 1
    assert not patience.is_over("the same")
    clock.now += 1
    assert patience.is_over("the same")
    assert watch.given_up == [clock.now]


def test_what_moves_beside_the_value_does_not_keep_a_wait_for_ever(clock: Clock, watch: Watch) -> None:
    patience = Patience()
    for at in range(0, int(PATIENCE_S), 5):
        clock.now = watch.at = float(at)
        assert not patience.is_over("the same")
    clock.now = watch.at = PATIENCE_S
    assert patience.is_over("the same")


def test_a_value_that_changes_is_movement(clock: Clock, watch: Watch) -> None:
    patience = Patience()
    for value in range(10):
        clock.now += STILL_S - 1
        assert not patience.is_over(value)
    clock.now += STILL_S
    assert patience.is_over(9)


def test_without_a_watch_only_the_value_can_move(clock: Clock) -> None:
    patience = Patience()
    clock.now = PATIENCE_S - 1
    assert not patience.is_over("the same")
    clock.now = PATIENCE_S
    assert not patience.is_over("another")
    clock.now += PATIENCE_S
    assert patience.is_over("another")


def test_what_overshoots_within_the_steady_time_is_not_taken(clock: Clock, watch: Watch) -> None:
    counts: Iterator[int] = iter([1, 2, *[3] * 1_000])
    assert eventually(lambda: next(counts), 2) == 3


def test_all_tables_have_one_steady_time(clock: Clock, watch: Watch) -> None:
    calls: dict[str, int] = dict.fromkeys("abcd", 0)

    def probe(name: str, agrees_at: float) -> list[str]:
        calls[name] += 1
        return [] if clock.now >= agrees_at else [f"{name} differs"]

    differences = settled({name: (lambda n=name: probe(n, 0.25 * ord(n))) for name in calls}, steady_s=2.0)
    assert differences == {name: [] for name in calls}
    assert clock.now < 0.25 * ord("d") + 2 * waiting.POLL_S + 2.0


def test_a_table_that_differs_after_the_steady_time_is_waited_for_again(clock: Clock, watch: Watch) -> None:
    answers = iter([[], ["too many"], ["too many"], [], []])
    assert settled({"only": lambda: next(answers)}) == {"only": []}
    assert next(answers, None) is None


def test_what_never_comes_is_returned_with_its_differences(clock: Clock, watch: Watch) -> None:
    assert settled({"a": list, "b": lambda: ["is missing"]}) == {"a": [], "b": ["is missing"]}
    assert len(watch.given_up) == 1
