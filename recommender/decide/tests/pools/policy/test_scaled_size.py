"""A size named by a sample: that of the same evidence without one, never applied, and nothing else rests on it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.estimate.belief.evidence import Evidence
from sluice.pools.policy.decision import Action, Decision
from sluice.pools.policy.observation import NO_BUCKETS, Constraints, Observation
from sluice.pools.policy.state import Facts, Learnt, PoolState, Scaled
from sluice.pools.policy.step import step
from sluice.pools.sampling.verdict import Kind, Sampling
from sluice_kit.decide.feeds import evidence, nothing

NOW = 1_700_000_000_000
KNOWN = evidence(8, 12, 16, 20, 32, 64, seconds=30)
TENTH = Sampling(Kind.SAMPLED, "ids fill 10 % of their range", 0.1, uniform=True)


def learnt(seen: Evidence) -> Learnt:
    return Learnt(evidence=seen, full=(1.0,) * 5, until_ms=NOW - 1_100, completed_ms=NOW - 1_100)


def sees(size: int, sampling: Sampling | None = TENTH, **more: Any) -> Observation:
    of = Observation({"a": size}, nothing(), 4.0, 10.0, constraints=Constraints(), sampling=sampling)
    return replace(of, sampled=None if sampling is None else NO_BUCKETS, **more)


def by_sample(seen: Evidence, of: Observation) -> tuple[PoolState, Decision]:
    return step(PoolState(Facts(NOW - 1_000), Learnt(), Scaled(0.1, learnt(seen))), of, NOW)


@pytest.mark.parametrize("size", [64, 32, 16, 8])
def test_the_named_size_is_that_of_a_pool_whose_spans_are_all_there(size: int) -> None:
    _, whole = step(PoolState(Facts(NOW - 1_000), learnt(KNOWN)), sees(size, None), NOW)
    after, named = by_sample(KNOWN, sees(size))
    for name in ("lower", "upper", "unguarded"):
        bound = min if name == "lower" else max
        here = getattr(whole, name)
        assert getattr(named, name) == here or bound(getattr(named, name), size) == here, name
    assert (named.action, named.target) == (Action.HOLD, size)
    assert [code for code, _ in named.reasons] == ["SAMPLED", "SCALED"]
    assert "10 %" in named.reasons[1][1]
    # No backend's share, no baseline and no later decision rests on it.
    assert (after.learnt.wanted, after.facts.baseline, after.learnt.evidence) == (None, None, Evidence())


def test_it_ends_with_the_sampler() -> None:
    after, named = step(by_sample(KNOWN, sees(64))[0], sees(64, None), NOW + 1_000)
    assert after.scaled is None
    assert (named.action, named.unguarded) == (Action.HOLD, None)


@pytest.mark.parametrize(
    ("seen", "of", "why"),
    [
        (KNOWN, sees(64, TENTH._replace(kept=0.01)), "fewer than one request in 20"),
        (KNOWN, sees(64, TENTH._replace(uniform=False)), "one known chance"),
        (KNOWN, sees(64, Sampling(Kind.TAIL_SAMPLED, "by a policy")), "one known chance"),
        (Evidence(), sees(64), "within 2 % yet"),
        (KNOWN, sees(64, sizes={"a": 64, "b": 32}), "no one size"),
        (KNOWN, sees(64, constraints=Constraints(callee="db")), "wait for a callee"),
        (evidence(64, seconds=60), sees(64), "no full pool between"),
    ],
)
def test_where_it_is_not_known_the_answer_says_why(seen: Evidence, of: Observation, why: str) -> None:
    _, decision = by_sample(seen, of)
    code, text = decision.reasons[-1]
    assert (code, decision.unguarded, decision.lower, decision.action) == ("NOT_SCALED", None, None, Action.HOLD)
    assert why in text


def test_no_actuator_is_said_beside_it() -> None:
    _, decision = by_sample(KNOWN, sees(64, from_metrics=True))
    assert [code for code, _ in decision.reasons] == ["SAMPLED", "SCALED", "NO_ACTUATOR"]


@given(
    st.sampled_from([8, 12, 16, 64, 200]),
    st.sampled_from([TENTH, TENTH._replace(kept=0.5), TENTH._replace(kept=0.01), TENTH._replace(uniform=False)]),
    st.booleans(),
)
def test_nothing_is_applied_under_a_sample(size: int, sampling: Sampling, knows: bool) -> None:
    """Also not by what was learnt before the sampler began."""
    state = PoolState(Facts(NOW - 1_000, 32), learnt(KNOWN) if knows else Learnt(), Scaled(0.1, learnt(KNOWN)))
    for at in range(3):
        state, decision = step(state, sees(size, sampling), NOW + 1_000 * at)
        assert (decision.action, decision.target) == (Action.HOLD, size)
