"""A pool whose size is of metrics, or whose threshold is derived: the same belief, target and range, never APPLY."""

from dataclasses import replace
from math import inf

import pytest

from sluice.model.states import State
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.belief.evidence import Evidence
from sluice.pools.policy.decision import Action, Basis, Decision
from sluice.pools.policy.observation import Constraints, Observation
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from sluice.pools.policy.step import step
from sluice.pools.policy.trust import Trust
from sluice_kit.decide.feeds import evidence, nothing

NOW = 1_700_000_000_000
KNOWN = evidence(8, 12, 16, 20, 32, 64, seconds=30)


def state(facts: Facts | None = None, seen: Evidence = KNOWN) -> PoolState:
    learnt = Learnt(evidence=seen, full=(1.0,) * 5, until_ms=NOW - 1_100, completed_ms=NOW - 1_100)
    return PoolState(Facts(NOW - 1_000) if facts is None else facts, learnt)


def sees(*sizes: int | None, constraints: Constraints | None = None) -> Observation:
    named = {f"target-{at}": size for at, size in enumerate(sizes)}
    return Observation(named, nothing(), 4.0, 10.0, constraints=constraints or Constraints(), from_metrics=True)


def codes(decision: Decision) -> list[str]:
    return [code for code, _ in decision.reasons]


@pytest.mark.parametrize("size", [64, 32, 4, 16])
def test_target_range_and_belief_are_those_of_a_pool_with_an_actuator(size: int) -> None:
    with_actuator = step(state(), replace(sees(size), from_metrics=False), NOW)[1]
    alone = step(state(), sees(size), NOW)[1]
    assert alone.action is Action.HOLD
    for name in ("target", "basis", "state", "lower", "upper", "unguarded", "loss", "confidence"):
        assert getattr(alone, name) == getattr(with_actuator, name), name
    assert alone.reasons[-1] == ("NO_ACTUATOR", "APPLY needs an actuator: none reports the size in force")
    assert alone.reasons[:-1] == with_actuator.reasons


def test_a_change_is_not_under_way_and_the_next_period_decides_anew() -> None:
    after, first = step(state(), sees(64), NOW)
    assert (after.facts.change, after.facts.current) == (None, None)
    again = step(after, sees(64), NOW + 1_000)[1]
    assert (codes(again), again.target) == (codes(first), first.target)


def test_another_size_is_nobody_s_change() -> None:
    """Neither what people set, nor what a metric shows late of an actuator that is gone, is FOREIGN."""
    after, _ = step(state(), sees(64), NOW)
    assert "FOREIGN" not in codes(step(after, sees(32), NOW + 60_000)[1])
    gone = state(Facts(NOW - 1_000, 32, Change(64, 32, NOW - 60_000, Basis.CURVE)))
    after, decision = step(gone, sees(64), NOW)
    assert "FOREIGN" not in codes(decision)
    # When the actuator is back, the size that it reads is the one that it set.
    assert after.facts.current == 32
    back = step(after, replace(sees(32), from_metrics=False), NOW + 1_000)[1]
    assert "FOREIGN" not in codes(back)


def test_several_instances_get_no_wave() -> None:
    decision = step(state(), sees(64, 64, 64, 64), NOW)[1]
    assert (decision.targets, "WAVE" in codes(decision)) == ((), False)
    assert codes(decision) == ["BETTER", "NO_ACTUATOR"]


def test_instances_that_differ_and_no_limit_are_not_applied() -> None:
    mixed = step(state(), sees(64, 64, 32), NOW)[1]
    assert (mixed.action, mixed.target, codes(mixed)) == (Action.HOLD, 64, ["MIXED", "NO_ACTUATOR"])
    assert codes(step(state(), sees(None), NOW)[1])[0] == "UNBOUNDED"


def test_a_size_that_an_operator_set_is_not_applied() -> None:
    paused = Constraints(paused="by ann: sale", set_to=16)
    decision = step(state(), sees(64, constraints=paused), NOW)[1]
    assert (decision.action, decision.target, codes(decision)) == (Action.HOLD, 16, ["SET", "NO_ACTUATOR"])


SLO_UNCONFIRMED = "SLO_UNCONFIRMED"


def test_a_derived_threshold_leads_to_no_apply() -> None:
    """Nothing is under way, and what people set meanwhile is no foreign size."""
    with_slo = replace(sees(64), from_metrics=False)
    allowed, (after, held) = step(state(), with_slo, NOW)[1], step(state(), replace(with_slo, may_apply=False), NOW)
    assert (allowed.action, held.action) == (Action.APPLY, Action.HOLD)
    assert (held.target, held.basis, held.lower, held.upper) == (
        allowed.target,
        allowed.basis,
        allowed.lower,
        allowed.upper,
    )
    assert held.reasons[-1] == (
        SLO_UNCONFIRMED,
        "APPLY needs an SLO or a threshold in the file, an SLO of a target, or derived_slo: {apply: true}",
    )
    assert (after.facts.change, after.facts.current) == (None, None)
    people = replace(sees(32), from_metrics=False, may_apply=False)
    assert "FOREIGN" not in codes(step(after, people, NOW + 1_000)[1])
    assert codes(step(after, replace(sees(64), may_apply=False), NOW + 1_000)[1])[1:] == [
        "NO_ACTUATOR",
        SLO_UNCONFIRMED,
    ]


def test_an_operators_size_rests_on_no_threshold() -> None:
    paused = Constraints(paused="by ann: sale", set_to=16)
    observation = replace(sees(64, constraints=paused), from_metrics=False, may_apply=False)
    decision = step(state(), observation, NOW)[1]
    assert (decision.action, decision.target, codes(decision)) == (Action.APPLY, 16, ["SET"])


def test_without_any_threshold_the_best_size_is_not_provided() -> None:
    known = replace(sees(16), from_metrics=False, may_apply=False)
    assert step(state(), known, NOW)[1].state is State.PROVIDED
    unjudged = step(state(), replace(known, slo_s=inf), NOW)[1]
    assert (unjudged.state, unjudged.target, unjudged.action) == (State.LEARNING, 16, Action.HOLD)


def test_the_guard_judges_nothing_that_nobody_applied() -> None:
    """With an actuator, less completed than at the operator's size, which was to be held; that is of no concern now."""
    trust = Trust(operator=64, since_ms=NOW - 20_000, given_up_ms=NOW + 60_000)
    facts = Facts(NOW - 1_000, 16, Change(64, 16, NOW - 20_000, Basis.CURVE), trust=trust)
    held = step(state(facts), replace(sees(16), from_metrics=False), NOW)[1]
    assert codes(held)[0] == "GAVE_UP"
    after, decision = step(state(facts), sees(16), NOW)
    assert (codes(decision)[0], decision.state is State.GUARDED) == ("BEST", False)
    assert (after.facts.trust, after.facts.change) == (trust, facts.change)


def test_a_model_that_serves_comparison_leads_to_no_apply() -> None:
    named = Estimate(State.PROVIDED, (), target=12, lower_bound=12, upper_bound=12, confidence=0.5, compares=True)
    seen = replace(sees(64), from_metrics=False, named=named)
    decision = step(state(), seen, NOW)[1]
    assert (decision.action, decision.target) == (Action.HOLD, 32)
    assert codes(decision) == ["BETTER", "COMPARES"]
    by_hand = replace(seen, constraints=Constraints(paused="by ann: sale", set_to=16))
    assert step(state(), by_hand, NOW)[1].action is Action.APPLY
