"""Data that come late, and news of scaling: wrappers around any limiter."""

from dataclasses import dataclass, field

from bench.controllers.delayed import Delayed
from bench.controllers.notified import Notified
from bench.controllers.rivals import RIVALS, rows
from bench.controllers.signal import Signal, steady


@dataclass
class Notes:
    """A rule that writes down when the windows that it sees ended; its limit is the last one's second."""

    limit: float = 20.0
    enough: int = 7
    period_s: float = 0.5
    ends: list[float] = field(default_factory=list)
    factors: list[float] = field(default_factory=list)

    def update(self, signal: Signal) -> float:
        self.ends.append(signal.until_s)
        self.limit = 100 + signal.until_s
        return self.limit

    def rescale(self, factor: float) -> None:
        self.factors.append(factor)
        self.limit *= factor


def at(until_s: float, cores: float = 2.0) -> Signal:
    return steady(0.01, 5, 100, size=60, until_s=until_s, cores=cores)


def test_a_rule_sees_what_is_two_seconds_old_and_the_pool_stays_until_then() -> None:
    rule = Notes()
    late = Delayed(rule, 2.0)
    assert [late.update(at(second)) for second in (1.0, 2.0, 3.0, 4.0)] == [60, 60, 101, 102]
    assert rule.ends == [1, 2]
    assert (late.limit, late.enough, late.period_s) == (102, 7, 0.5)


def test_windows_that_come_due_together_are_handed_on_in_their_order() -> None:
    rule = Notes()
    late = Delayed(rule, 2.0)
    for second in (1.0, 2.0, 7.0):
        late.update(at(second))
    assert rule.ends == [1, 2]


def test_without_delay_it_is_the_rule() -> None:
    rule = Notes()
    assert Delayed(rule, 0.0).update(at(1.0)) == 101


def test_tenths_of_a_second_add_up_to_two_seconds() -> None:
    """0.1 + 2.0 is not 2.1 in floating point."""
    rule = Notes()
    late = Delayed(rule, 2.0)
    for tenth in range(1, 31):
        late.update(at(tenth * 0.1))
    assert len(rule.ends) == 10


def test_a_limit_is_multiplied_once_by_what_the_cpu_limit_was() -> None:
    rule = Notes()
    notified = Notified(rule)
    assert notified.update(at(1.0)) == 101
    assert notified.update(at(2.0, cores=4.0)) == 202
    assert notified.update(at(3.0, cores=4.0)) == 103
    assert notified.update(at(4.0, cores=2.0)) == 51.5
    assert rule.ends == [1, 3]  # not those in which it changed
    assert rule.factors == [2, 0.5]


def test_news_of_scaling_are_not_late_and_drop_what_is_old() -> None:
    rule = Notes()
    notified = Notified(Delayed(rule, 2.0))
    for second in (1.0, 2.0, 3.0):
        notified.update(at(second))
    assert notified.update(at(4.0, cores=4.0)) == 202
    for second in (5.0, 6.0, 7.0):
        notified.update(at(second, cores=4.0))
    assert rule.ends == [1, 5]


def test_every_rival_is_there_with_old_data_told_and_undelayed() -> None:
    assert len(rows()) == 3 * len(RIVALS)
    for name, rival in RIVALS.items():
        late, notified, now = (rows()[f"{name}{kind}"]() for kind in ("", " (told of scaling)", " (undelayed)"))
        assert isinstance(late, Delayed)
        assert isinstance(notified, Notified)
        assert isinstance(notified.rule, Delayed)
        assert type(now) is type(late.rule) is type(rival())
        assert late.period_s == (0.1 if name == "hill climbing" else 1.0)


def test_told_of_twice_the_cpu_every_rival_doubles_or_measures_first() -> None:
    for name, rival in RIVALS.items():
        rule = rival()
        notified = Notified(rule)
        notified.update(at(1.0))
        before = rule.limit
        notified.update(at(2.0, cores=4.0))
        assert rule.limit == (3 if name == "envoy gradient" else min(2 * before, 200)), name
