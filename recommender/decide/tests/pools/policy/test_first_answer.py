"""A service that still starts is seen as a slow one: what is said of it then is not said with confidence."""

from feeds import FALLS, buckets
from sluice.pools.policy.observation import Constraints, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step

T0 = 1_700_000_000_000
COLD_S, COLD = 8, 0.25
"""So long each request takes four times as long."""


def course(seconds: int) -> list[tuple[int | None, float]]:
    """The best size that is named and the confidence, each second: 3 in flight at first, then a full pool of 48."""
    state, size, found = PoolState(), 48, []
    for second in range(seconds):
        now_ms = T0 + 1_000 * second
        speed = COLD if 3 <= second < COLD_S else 1.0
        in_flight = 3 if second < 3 else size
        seen = buckets(now_ms - 1_000, 1.0, size, in_flight, speed * FALLS.throughput(in_flight))
        state, decision = step(state, Observation({"": size}, seen, 4.0, 10.0, constraints=Constraints(1, 128)), now_ms)
        if decision.target is not None:
            size = decision.target
        found.append((decision.unguarded, decision.confidence))
    return found


def test_what_is_seen_of_a_service_that_starts_is_not_said_with_confidence() -> None:
    found = course(60)
    cold = [(best, confidence) for best, confidence in found[: COLD_S + 1] if best is not None]
    assert min(best for best, _ in cold) == 3, "it is as the light load before it shows it, or this test shows nothing"
    assert max(confidence for _, confidence in cold) < 0.25
    best, confidence = found[-1]
    assert best in range(12, 21)
    assert confidence > 0.9


def test_confidence_comes_with_evidence() -> None:
    """Half a minute of a full pool, at the latest."""
    confidences = [confidence for _, confidence in course(COLD_S + 35)]
    assert max(confidences[: COLD_S + 10]) < 0.5
    assert confidences[-1] > 0.9
