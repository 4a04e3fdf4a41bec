"""When a pool that was never full is shrunk, and when its sizes are only named: by hand."""

from dataclasses import replace
from math import log
from types import SimpleNamespace
from typing import cast

import pytest

from sluice.pools.estimate.belief.cache import CachedBelief
from sluice.pools.estimate.belief.posterior import Posterior
from sluice.pools.policy.crowded import Crowd, crowd, crowded_choice, falls, on_trial
from sluice.pools.policy.decision import Basis, Decision
from sluice.pools.policy.observation import NO_BUCKETS, Observation, Occupancy
from sluice.pools.policy.pace import Beat
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from sluice.pools.policy.step import step
from sluice.pools.policy.trust import RefusedSize, Trust
from sluice.pools.policy.worth import Outlook
from sluice_kit.decide.feeds import FALLS, evidence

SLO_S = 0.25
OUTLOOK = Outlook(32, 30, 36, loss=0.15)
NOW_MS = 1_700_000_000_000
LATE = 48.0 / 0.5
IN_USE = Occupancy(48.0, 0.0, 0.0, NOW_MS, busy_most=52, readings=30, busy_30_s=48.0)


class Knows:
    """A belief that 32 in a full pool complete 195 a second, give or take 0.05 in ln X."""

    def predict(self, n: float, full: bool) -> tuple[float, float]:
        assert (n, full) == (32.0, True)
        return log(195.0), 0.0025


def beats(
    in_flight: float = 48.0, per_s: float = 168.0, size: int = 64, seconds: int = 15, slope: float = -1.0
) -> tuple[Beat, ...]:
    """4 % more and less in flight in turns, and by the slope less and more completions."""
    by = [0.04 * (at % 3 - 1) for at in range(seconds)]
    return tuple(
        Beat(at, size, per_s * (1 + slope * part), 0.0, in_flight * (1 + part), 1.0) for at, part in enumerate(by)
    )


def shows(of: tuple[Beat, ...], slo_s: float = SLO_S) -> Crowd | None:
    return crowd(of, cast(Posterior, Knows()), 64, OUTLOOK, slo_s)


def test_more_are_in_flight_than_a_size_holds_that_completes_more() -> None:
    """48 / 168 = 0.286 s, over 0.25; 195 is 1.16 times 168, and ln 1.16 = 0.149 is three times 0.05."""
    found = shows(beats())
    assert found is not None
    assert found == (pytest.approx(48.0), pytest.approx(168.0), pytest.approx(195.0), pytest.approx(2.98, abs=0.01))


def test_seconds_before_it_was_crowded_do_not_count() -> None:
    light = (Beat(-1, 64, 300.0, 0.0, 10.0, 1.0),)
    assert shows((*light, *beats())) == shows(beats())
    assert shows((*beats(seconds=14), *light)) is None


@pytest.mark.parametrize(
    "found",
    [
        shows(beats(), slo_s=0.3),  # in time, in the mean
        shows(beats(in_flight=45.0, per_s=150.0)),  # 36 threads would hold four fifths of them
        shows(beats(per_s=178.0)),  # 0.27 s each; 195 is 1.096 times 178
        shows(beats(seconds=14)),
        # A callee is slow: n / X is constant. Or nothing is known of how they hang together.
        shows(beats(slope=1.0)),
        shows(beats(slope=0.0)),
        shows(beats(size=63)),  # of another size
        shows(beats(per_s=0.0)),
        shows(()),
    ],
)
def test_no_smaller_size_would_help(found: Crowd | None) -> None:
    assert found is None


def decided(seen: Occupancy | None, slo_s: float = SLO_S) -> Decision:
    """48 of 200 in flight complete what 64 would, 12 or so are best, and 0.5 s are too long for an SLO of 0.25."""
    known = evidence(8, 12, 16, 20, 32, 64, seconds=30)
    of = tuple(beat._replace(second=beat.second + NOW_MS // 1_000 - 16) for beat in beats(per_s=LATE, size=200))
    learnt = Learnt(evidence=known, full=(0.0,) * 5, until_ms=NOW_MS - 1_100, completed_ms=NOW_MS - 1_100, beats=of)
    facts = Facts(NOW_MS - 1_000, 200)
    here = Observation({"a": 200}, NO_BUCKETS, 4.0, slo_s, occupancy=seen)
    return step(PoolState(facts, learnt), here, NOW_MS)[1]


def test_it_is_shrunk_where_its_targets_report_as_many_in_use() -> None:
    """To half of what is in flight: 14 to 17 are best."""
    decision = decided(IN_USE)
    assert (decision.target, decision.reasons[0][0]) == (24, "BETTER")


@pytest.mark.parametrize(
    "decision",
    [
        decided(None),
        decided(replace(IN_USE, coarse=True)),
        decided(replace(IN_USE, readings=2)),
        decided(replace(IN_USE, busy=5.0)),
    ],
)
def test_else_the_size_stays_and_the_reason_names_the_sizes(decision: Decision) -> None:
    assert decision.target == 200
    code, text = decision.reasons[0]
    assert code == "NEVER_FULL"
    assert f"and 48 in flight complete {LATE:.0f}; set one of them by hand" in text
    assert FALLS.throughput(12) > LATE * 1.1


def test_where_requests_are_in_time_it_stays_and_nothing_is_named() -> None:
    decision = decided(IN_USE, slo_s=0.6)
    assert decision.target == 200
    code, text = decision.reasons[0]
    assert code == "NEVER_FULL"
    assert "set one" not in text


def chosen(change: Change | None = None, least: int = 1, refused: tuple[RefusedSize, ...] = ()) -> int | None:
    learnt = Learnt(beats=beats(), kept=cast(CachedBelief, SimpleNamespace(now=Knows())))
    here = Observation({"a": 64}, NO_BUCKETS, 4.0, SLO_S, occupancy=IN_USE)
    found = crowded_choice(Facts(0, 64, change, trust=Trust(refused=refused)), learnt, here, OUTLOOK, least, NOW_MS)
    return found.size if found else None


@pytest.mark.parametrize(
    ("change", "size"),
    [
        (None, 36),
        # The guard went back from there: what spans show then led there.
        (Change(32, 64, 0, Basis.REVERT), None),
        (Change(80, 64, 0, Basis.REVERT), 36),
        (Change(128, 64, 0, Basis.CURVE), 36),
    ],
)
def test_after_a_way_back_from_a_smaller_size_it_is_not_shrunk_again(change: Change | None, size: int | None) -> None:
    assert chosen(change) == size


def test_a_smaller_size_is_legal_and_filled() -> None:
    """48 fill 38 with a quarter more."""
    assert (chosen(least=38), chosen(least=39)) == (38, None)
    assert chosen(refused=(RefusedSize(36, 64, NOW_MS + 1),)) is None


@pytest.mark.parametrize(
    ("seen", "less"),
    [
        (beats(), True),
        (beats(slope=1.0), False),
        # The same in flight in each second.
        (tuple(beat._replace(in_flight_s=48.0) for beat in beats()), False),
        (beats(seconds=2), False),
    ],
)
def test_less_completes_in_the_seconds_with_more_in_flight(seen: tuple[Beat, ...], less: bool) -> None:
    assert falls(seen, 2.0) == less


def test_chance_is_no_fall() -> None:
    """A slope of -0.82, give or take 0.13; then -0.75, give or take 0.97."""
    points = ((38.0, 165.0), (40.0, 156.0), (42.0, 152.0))
    assert falls(tuple(Beat(0, 64, per_s, 0.0, n, 1.0) for n, per_s in points), 2.0)
    points = ((38.0, 165.0), (40.0, 142.0), (42.0, 153.0))
    of = tuple(Beat(0, 64, per_s, 0.0, n, 1.0) for n, per_s in points)
    assert not falls(of, 2.0)
    assert falls(of, 0.0)


@pytest.mark.parametrize(
    ("change", "seen", "tried"),
    [
        (Change(64, 32, 0, Basis.CURVE), beats(), True),
        (None, beats(), False),
        # 1.25 times 38 are more than 46.
        (Change(64, 38, 0, Basis.CURVE), beats(), False),
        # A pool of 55 with 48 in flight, 0.87 of it, is full.
        (Change(55, 32, 0, Basis.CURVE), beats(size=55), False),
        # More completes with more in flight: another rule made the change.
        (Change(64, 32, 0, Basis.CURVE), beats(slope=1.0), False),
        (Change(64, 32, 0, Basis.CURVE), beats(seconds=14), False),
        (Change(64, 32, 0, Basis.REVERT), beats(), False),
        (Change(64, 32, 0, Basis.PROBE), beats(), False),
        (Change(32, 64, 0, Basis.CURVE), beats(size=32), False),
    ],
)
def test_a_pool_that_was_not_full_and_was_shrunk_is_on_trial(
    change: Change | None, seen: tuple[Beat, ...], tried: bool
) -> None:
    assert on_trial(Facts(0, 32, change), Learnt(beats=seen)) == tried


def test_no_further_change_comes_before_the_guard_has_seen_three_seconds() -> None:
    """16 and less are better by far; without the trial the next step comes after a second."""
    seen = tuple(beat._replace(second=beat.second + NOW_MS // 1_000 - 18) for beat in beats())

    def next_case(known_until_ms: int, of: tuple[Beat, ...]) -> str:
        learnt = Learnt(
            evidence=evidence(8, 12, 16, 20, 32, 64, seconds=30),
            full=(1.0,) * 5,
            until_ms=known_until_ms - 100,
            completed_ms=known_until_ms,
            beats=of,
        )
        change = Change(64, 32, NOW_MS - 3_000, Basis.CURVE)
        facts = Facts(NOW_MS - 1_000, 32, change, trust=Trust(operator=64, since_ms=NOW_MS - 3_000))
        here = Observation({"a": 32}, NO_BUCKETS, 4.0, SLO_S)
        return step(PoolState(facts, learnt), here, known_until_ms + 1_000)[1].reasons[0][0]

    assert next_case(NOW_MS + 2_999, seen) == "WAITING"
    assert next_case(NOW_MS + 3_000, seen) == "BETTER"
    assert next_case(NOW_MS - 1_000, ()) == "BETTER"
