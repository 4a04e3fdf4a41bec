"""A service that still starts is seen as a slow one: what is said of it then is not said with confidence."""

from typing import NamedTuple

from sluice.pools.policy.decision import Action
from sluice.pools.policy.observation import Constraints, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step
from sluice_kit.decide.feeds import FALLS, buckets

T0 = 1_700_000_000_000
COLD_S, COLD = 8, 0.25
"""So long each request takes four times as long."""


class Said(NamedTuple):
    """size: in force. best: the size that is named. held: nothing is to be applied."""

    size: int
    best: int | None
    confidence: float
    held: bool
    target: int | None


def course(seconds: int) -> list[Said]:
    """Each second: 3 in flight at first, then a full pool of 48."""
    state, size, found = PoolState(), 48, []
    for second in range(seconds):
        now_ms = T0 + 1_000 * second
        speed = COLD if 3 <= second < COLD_S else 1.0
        in_flight = 3 if second < 3 else size
        seen = buckets(now_ms - 1_000, 1.0, size, in_flight, speed * FALLS.throughput(in_flight))
        state, decision = step(state, Observation({"": size}, seen, 4.0, 10.0, constraints=Constraints(1, 128)), now_ms)
        held = decision.action is Action.HOLD
        found.append(Said(size, decision.unguarded, decision.confidence, held, decision.target))
        if decision.target is not None:
            size = decision.target
    return found


def test_what_is_seen_of_a_service_that_starts_is_not_said_with_confidence() -> None:
    found = course(60)
    cold = [each for each in found[: COLD_S + 1] if each.best is not None]
    # 8 threads complete a fifth less than 16.
    assert min(each.best for each in cold) <= 8, "what is cold misleads it, or this test shows nothing"
    assert max(each.confidence for each in found[: COLD_S + 1] if each.target == each.size) < 0.25
    # Before 3 s of it were full no best size is named at all.
    assert {each.best for each in found[:5]} == {None}
    # Of a change it is said how likely it is no worse: that is so of those that are made.
    moves = [each for each in cold if not each.held and each.target != each.size]
    assert moves
    assert all(FALLS.throughput(each.target) > FALLS.throughput(each.size) for each in moves)
    assert found[-1].best in range(12, 21)
    assert found[-1].confidence > 0.9


def test_confidence_comes_with_evidence() -> None:
    """Half a minute of a full pool, at the latest: a 60th for each second, those of a full pool double."""
    found = course(COLD_S + 35)
    for at, each in enumerate(found):
        if each.held:
            assert each.confidence <= (min(at + 1, 3) + 2 * max(0, at - 2)) / 60
    assert found[-1].confidence > 0.9
