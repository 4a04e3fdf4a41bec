"""What a decision says of a pool that was never full: by hand."""

from math import log
from typing import cast

import pytest

from sluice.pools.estimate.belief.posterior import Posterior
from sluice.pools.policy.observation import NO_BUCKETS, Observation
from sluice.pools.policy.pace import Beat
from sluice.pools.policy.reasons import crowded
from sluice.pools.policy.state import Facts, Learnt, PoolState
from sluice.pools.policy.step import step
from sluice.pools.policy.worth import Outlook
from sluice_kit.decide.feeds import FALLS, evidence

SLO_S = 0.25


class Knows:
    """A belief that 36 in a full pool complete 195 a second."""

    def predict(self, n: float, full: bool) -> tuple[float, float]:
        assert (n, full) == (36.0, True)
        return log(195.0), 0.0


def beats(in_flight: float = 48.0, per_s: float = 168.0) -> tuple[Beat, ...]:
    """Five seconds of a pool of 64."""
    return tuple(Beat(at, 64, per_s, 0.0, in_flight, 1.0) for at in range(5))


def why(of: tuple[Beat, ...], slo_s: float = SLO_S) -> str:
    return crowded(of, cast(Posterior, Knows()), Outlook(36, 34, 41, loss=0.15), slo_s)


def test_sizes_are_named_that_complete_more_than_what_is_in_flight_now() -> None:
    """48 / 168 = 0.286 s, over 0.25; 195 is 1.16 times 168."""
    assert why(beats()) == (
        "34 to 41 are expected to complete 195 a second, and 48 in flight complete 168; set one of them by hand"
    )


@pytest.mark.parametrize(
    "says",
    [
        why(beats(), slo_s=0.3),  # in time, in the mean
        why(beats(in_flight=41.0, per_s=150.0)),  # 41 threads would hold all: 0.273 s each
        why(beats(per_s=178.0)),  # 0.27 s each; 195 is 1.096 times 178
        why(()),
    ],
)
def test_nothing_is_said_where_no_smaller_size_would_help(says: str) -> None:
    assert says == ""


def test_the_size_stays_and_the_reason_names_the_sizes() -> None:
    """48 of 200 in flight complete what 64 would, 12 or so are best, and 0.5 s are too long for an SLO of 0.25."""
    known = evidence(8, 12, 16, 20, 32, 64, seconds=30)
    now_ms, late = 1_700_000_000_000, 48.0 / 0.5
    of = tuple(Beat(1_699_999_994 + at, 200, late, 0.0, 48.0, 1.0) for at in range(5))
    learnt = Learnt(evidence=known, full=(0.0,) * 5, until_ms=now_ms - 1_100, completed_ms=now_ms - 1_100, beats=of)
    seen = Observation({"a": 200}, NO_BUCKETS, 4.0, SLO_S)
    _, decision = step(PoolState(Facts(now_ms - 1_000, 200), learnt), seen, now_ms)
    assert decision.target == 200
    code, text = decision.reasons[0]
    assert code == "NEVER_FULL"
    assert f"and 48 in flight complete {late:.0f}; set one of them by hand" in text
    assert late * 1.1 < FALLS.throughput(12)
