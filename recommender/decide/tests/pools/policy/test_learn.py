"""From windows to evidence: what is taken once, how it is cut, and what a version remembers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.pools.estimate.belief.cache import CachedBelief, believed
from sluice.pools.estimate.belief.doubt import Doubt
from sluice.pools.estimate.belief.evidence import Evidence
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.lateness import late, slow
from sluice.pools.policy.learn import MOST_VERSIONS, learn, of_version, with_lag
from sluice.pools.policy.observation import Buckets
from sluice.pools.policy.parts import TRIED_MS
from sluice.pools.policy.seconds import RECOVERS_MS
from sluice.pools.policy.state import RECENT, Change, Learnt
from sluice_kit.decide.feeds import FALLS, Curve, buckets, evidence, full, joined, seconds_of

T0 = 1_700_000_000_000


def test_a_second_is_learnt_from() -> None:
    found = learn(Learnt(), full(T0, 1, 16))
    assert found.evidence == evidence(16, seconds=1)
    assert found.until_ms == found.completed_ms == T0 + 900
    assert found.full == (1.0,)


def test_what_was_taken_is_not_taken_again() -> None:
    once = learn(Learnt(), full(T0, 3, 16))
    assert learn(once, full(T0, 3, 16)) == once
    assert learn(once, full(T0, 0, 16)) == once
    # Of four seconds the last one is new.
    assert learn(once, full(T0, 4, 16)) == learn(once, full(T0 + 3_000, 1, 16))


def test_how_late_windows_are_is_the_age_of_the_oldest_new_one() -> None:
    """The spans of 5 s come at once, 1 s after the last one ended; nothing more for 2 s; then those of a second, 2 s
    late, and those of a minute."""
    before, lags = Learnt(), []
    for seconds, now_ms in [(5, 6_000), (5, 8_000), (6, 8_000), (66, 68_000)]:
        came = full(T0, seconds, 16)
        before = with_lag(learn(before, came), before, came, T0 + now_ms)
        lags.append(before.lag_ms)
    assert lags == [6_000, 3_100, 3_000, 2_100]


def test_without_a_size_or_cores_nothing_is_learnt_but_that_requests_completed() -> None:
    untold = replace(full(T0, 1, 16), size=np.full(10, np.nan))
    found = learn(Learnt(), untold)
    assert (found.evidence, found.full) == (Evidence(), ())
    assert found.completed_ms == found.until_ms == T0 + 900
    no_cores = learn(Learnt(), replace(full(T0, 1, 16), cores=np.full(10, np.nan)))
    assert (no_cores.evidence, no_cores.full) == (Evidence(), (1.0,))


def test_of_a_pool_that_is_not_full_what_is_late_says_nothing() -> None:
    """4 in flight, 2 a second: 2 s each, and 1.9 SLOs are 1.9 s. A full pool's throughput counts however late it is."""
    slow = buckets(T0, 1, 16, 4.0, 2.0)
    assert learn(Learnt(), slow, slo_s=1.0).evidence == Evidence()
    assert learn(Learnt(), slow, slo_s=1.0).completed_ms == T0 + 900
    assert learn(Learnt(), slow, slo_s=1.1).evidence == learn(Learnt(), slow).evidence != Evidence()
    assert learn(Learnt(), buckets(T0, 1, 16, 16.0, 2.0), slo_s=1.0).evidence != Evidence()


@pytest.mark.parametrize(("in_flight", "rate", "is_late"), [(4.0, 2.0, True), (4.0, 3.0, False), (4.0, 0.0, True)])
def test_late_is_by_little_s_law(in_flight: float, rate: float, is_late: bool) -> None:
    assert late(in_flight, rate, slo_s=1.0) == is_late


@pytest.mark.parametrize(("in_time", "is_late"), [(0.49, True), (0.5, False), (float("nan"), True)])
def test_what_windows_show_half_in_time_is_not_late(in_time: float, is_late: bool) -> None:
    """104 in flight and 800 a second are 0.13 s each, at an SLO of 0.05 s: a few long ones make the mean."""
    assert late(104.0, 800.0, 0.05, in_time) == is_late


def test_of_a_pool_that_is_not_full_what_is_in_time_is_learnt() -> None:
    """As above, 2 s each on average at an SLO of 1 s, and 19 of 20 are in time."""
    long_tailed = buckets(T0, 1, 16, 4.0, 2.0)
    assert learn(Learnt(), replace(long_tailed, good=0.4 * long_tailed.completions), slo_s=1.0).evidence == Evidence()
    known = learn(Learnt(), replace(long_tailed, good=0.95 * long_tailed.completions), slo_s=1.0)
    assert known.evidence == learn(Learnt(), long_tailed).evidence


@pytest.mark.parametrize(("slo_s", "is_slow"), [(4.0, True), (4.1, False)])
def test_requests_are_slow_from_a_quarter_of_the_slo_on(slo_s: float, is_slow: bool) -> None:
    """16 in flight and 16 a second: 1 s each, by the evidence or by the newest half minute alone."""
    found = learn(Learnt(), buckets(T0, 2, 16, 16.0, 16.0))
    assert slow(replace(found, beats=()), slo_s) == is_slow
    assert slow(replace(found, evidence=Evidence()), slo_s) == is_slow
    assert not slow(Learnt(), slo_s)


def test_an_empty_pool_is_not_late() -> None:
    assert not late(0.0, 0.0, slo_s=1.0)


def test_silence_keeps_the_last_completion() -> None:
    found = learn(learn(Learnt(), full(T0, 1, 16)), buckets(T0 + 1_000, 2, 16, 0.0, 0.0))
    assert found.completed_ms == T0 + 900
    assert found.until_ms == T0 + 2_900
    assert seconds_of(found.evidence) == pytest.approx(1)


def test_a_second_in_which_the_size_changed_is_two() -> None:
    half = joined(full(T0, 0.5, 16), full(T0 + 500, 0.5, 32))
    found = learn(Learnt(), half)
    assert [round(level.seconds, 2) for level in found.evidence.levels] == [0.5, 0.5]
    assert found.full == (1.0, 1.0)
    cores = learn(Learnt(), joined(full(T0, 0.5, 16), full(T0 + 500, 0.5, 16, cores=2.0)))
    assert [level.cores for level in cores.evidence.levels] == [4.0, 2.0]


def test_fullness_of_the_newest_seconds_is_kept() -> None:
    busy, idle = full(T0, 3, 16), buckets(T0 + 3_000, 4, 16, 2.0, 50.0)
    assert learn(Learnt(), joined(busy, idle)).full == (1.0, 0.0, 0.0, 0.0, 0.0)
    assert RECENT == 5


def edge(size: int) -> Curve:
    """A tenth of what it does otherwise, from 40 on."""
    return Curve(speed=5.0) if size >= 40 else Curve()


def test_what_a_pool_shows_that_has_just_grown_is_of_its_size() -> None:
    """It falls off an edge at 40: not another service, so what is known of 20 is not forgotten."""
    known = replace(Learnt(evidence=evidence(10, 20)), until_ms=T0 - 1)
    fallen = full(T0, 3, 40, edge(40))
    grown = learn(known, fallen, Change(20, 40, T0, Basis.CURVE))
    assert grown.doubt == Doubt()
    assert sorted(round(level.in_flight_s / level.seconds) for level in grown.evidence.levels) == [10, 20, 40]
    # A size larger than all that stood may be beyond an edge whenever it is seen first.
    for change in (None, Change(20, 40, T0 - TRIED_MS, Basis.CURVE), Change(80, 40, T0, Basis.CURVE)):
        other = learn(known, fallen, change)
        assert sizes_of(other.evidence) == [10, 20, 40]
        assert other.doubt == Doubt()


def test_a_size_that_stood_and_falls_is_forgotten_first_where_smaller_ones_are_known() -> None:
    known = replace(Learnt(evidence=evidence(10, 20)), until_ms=T0 - 1)
    slow = Curve(speed=5.0)
    fallen = learn(known, full(T0, 3, 20, slow))
    assert sizes_of(fallen.evidence) == [10, 20]
    (now,) = [level for level in fallen.evidence.levels if round(level.in_flight_s / level.seconds) == 20]
    assert now.completions / now.seconds == pytest.approx(slow.throughput(20))
    # At a smaller one it shows that the service changed.
    assert sizes_of(learn(fallen, full(T0 + 3_000, 3, 10, slow)).evidence) == [10]
    assert sizes_of(learn(known, full(T0, 3, 10, slow)).evidence) == [10]


def test_a_pool_that_comes_back_from_beyond_an_edge_shows_nothing_until_it_has() -> None:
    known = learn(replace(Learnt(evidence=evidence(10, 20)), until_ms=T0 - 1), full(T0, 3, 40, Curve(speed=2.0)))
    known = learn(known, full(T0 + 3_000, 1, 40, Curve(speed=2.0)))
    back, drains = Change(40, 20, T0 + 4_000, Basis.REVERT), full(T0 + 4_000, 2, 20, Curve(speed=20.0))
    known = replace(known, kept=believed(None, known.evidence, 4.0))
    assert learn(known, drains, back).evidence == known.evidence
    # 12 s after the change it is what the pool does, and so it is once the pool did more since the change.
    late = Change(40, 20, T0 + 4_000 - RECOVERS_MS, Basis.REVERT)
    assert learn(known, drains, late).evidence != known.evidence
    recovered = learn(known, full(T0 + 4_000, 1, 20), back)
    falls = full(T0 + 5_000, 1, 20, Curve(speed=20.0))
    assert learn(recovered, falls, back).doubt != Doubt()


def sizes_of(seen: Evidence) -> list[int]:
    return sorted(round(level.in_flight_s / level.seconds) for level in seen.levels)


def test_a_known_size_is_believed_after_a_change() -> None:
    known = replace(Learnt(evidence=evidence(10, 20)), until_ms=T0 - 1)
    assert learn(known, full(T0, 1, 20), Change(20, 40, T0, Basis.CURVE)) == learn(known, full(T0, 1, 20))


def test_a_version_that_comes_back_is_known() -> None:
    old = Learnt(version="1", evidence=evidence(16), doubt=Doubt(1.0))
    new = of_version(old, "2")
    assert (new.version, new.evidence, new.doubt, new.remembered) == ("2", Evidence(), Doubt(), False)
    assert new.versions == (("1", evidence(16)),)
    back = of_version(replace(new, evidence=evidence(8)), "1")
    assert (back.version, back.evidence, back.remembered) == ("1", evidence(16), True)
    assert back.versions == (("2", evidence(8)),)


def test_a_version_that_is_not_told_changes_nothing() -> None:
    told = Learnt(version="1", evidence=evidence(16))
    assert of_version(told, "") is told
    assert of_version(told, "1") is told
    assert of_version(Learnt(evidence=evidence(16)), "1") == told


def test_the_newest_other_versions_are_remembered() -> None:
    learnt = Learnt(version="0", evidence=evidence(4))
    for version in range(1, 7):
        learnt = replace(of_version(learnt, str(version)), evidence=evidence(4 + version))
    assert [version for version, _ in learnt.versions] == ["3", "4", "5"]
    assert len(learnt.versions) == MOST_VERSIONS


LOADS = st.lists(st.tuples(st.sampled_from([8, 16, 32]), st.floats(0.1, 1.0)), min_size=4, max_size=14)


def feed(loads: list[tuple[int, float]]) -> Buckets:
    """A second each of a size and the part of it that is in flight."""
    return joined(
        *(
            buckets(T0 + 1_000 * at, 1, size, size * share, FALLS.throughput(size * share))
            for at, (size, share) in enumerate(loads)
        )
    )


def cut(all_of_it: Buckets, edges_ms: list[int]) -> list[Buckets]:
    at = np.searchsorted(all_of_it.start_ms, edges_ms)
    return [all_of_it.take(slice(low, high)) for low, high in zip([0, *at], [*at, len(all_of_it)], strict=True)]


def learnt_from(parts: list[Buckets]) -> Learnt:
    learnt = Learnt()
    for part in parts:
        learnt = learn(learnt, part)
    return learnt


@given(LOADS, st.lists(st.integers(0, 14), max_size=6))
@settings(deadline=None, max_examples=25)
def test_periods_that_end_on_whole_seconds_give_the_same_evidence(
    loads: list[tuple[int, float]], ends: list[int]
) -> None:
    whole = feed(loads)
    assert learnt_from(cut(whole, sorted(T0 + 1_000 * end for end in ends))) == learnt_from([whole])


@given(LOADS, st.lists(st.integers(0, 140), max_size=6))
@settings(deadline=None, max_examples=25)
def test_periods_that_overlap_change_nothing(loads: list[tuple[int, float]], ends: list[int]) -> None:
    """What was read again, as after a restart, was taken already."""
    whole = feed(loads)
    learnt = learnt_from([whole])
    for part in cut(whole, sorted(T0 + 100 * end for end in ends)):
        assert learn(learnt, part) == learnt


def test_many_seconds_in_one_period_are_judged_by_one_belief(monkeypatch: pytest.MonkeyPatch) -> None:
    """And are the evidence that they are one by one."""
    before = learn(Learnt(), full(0, 10, 16))
    before = replace(before, kept=believed(None, before.evidence, 4.0))
    one_by_one = before
    for second in range(10, 40):
        one_by_one = learn(one_by_one, full(1_000 * second, 1, 16))
        one_by_one = replace(one_by_one, kept=believed(one_by_one.kept, one_by_one.evidence, 4.0))
    made = []

    def counted(*asked: object) -> CachedBelief:
        made.append(asked)
        return believed(*asked)

    monkeypatch.setattr("sluice.pools.policy.seconds.believed", counted)
    at_once = learn(before, full(10_000, 30, 16))
    assert made == []
    assert at_once == one_by_one
    # What contradicts is looked at as ever.
    assert learn(before, full(10_000, 1, 16, Curve(speed=10))).doubt.score > 0
    assert made
