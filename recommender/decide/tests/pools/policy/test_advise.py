"""What is said of the hardware: by hand, and whatever the load and the hardware are."""

from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.model.demand import Demand
from sluice.pools.policy.decision import Action, Advice, Advised, Decision
from sluice.pools.policy.observation import Constraints, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step
from sluice_kit.decide.feeds import FALLS, buckets

T0 = 1_700_000_000_000
SLO_S = 0.5
READING_S, STEP_S = 10, 2


@dataclass
class Service:
    """Instances of a service whose pool is full when more is asked of it than it does; a reading is 10 s.

    load: calls a second of all instances. speed of an instance is by its cores; with 4, 16 threads are the best and do
    364 a second.
    """

    load: float
    replicas: int | None = 2
    cores: float = 4.0
    size: int = 16
    judged: bool = True
    slo_s: float = SLO_S
    bound: Constraints = field(default_factory=Constraints)
    state: PoolState = field(default_factory=PoolState)
    now_ms: int = T0

    def most(self) -> float:
        return FALLS.throughput(self.size) * (self.cores or 4.0) / 4.0

    def reads(self, readings: int = 1, told: bool = True, of_threads: bool = True) -> Decision:
        """So many readings on; the pool takes what is decided. of_threads: nothing is advised by connections."""
        for _ in range(readings):
            asked = self.load / (self.replicas or 2)
            for left in reversed(range(READING_S // STEP_S)):
                does = min(asked, self.most())
                busy = self.size if asked >= self.most() else self.size * 0.35 * asked / self.most()
                came = buckets(self.now_ms - 2_000, STEP_S, self.size, busy, does, self.cores)
                self.now_ms += 1_000 * STEP_S
                demand = (
                    Demand(self.now_ms, asked, min(1.0, does / asked) if self.judged else None, of_threads=of_threads)
                    if told and left == 0
                    else None
                )
                seen = Observation(
                    {"a": self.size},
                    came,
                    self.cores,
                    self.slo_s,
                    constraints=self.bound,
                    demand=demand,
                    replicas=self.replicas,
                )
                self.state, decision = step(self.state, seen, self.now_ms)
                if decision.action is Action.APPLY and decision.target is not None:
                    self.size = decision.target
        return decision

    def said(self, readings: int) -> list[Advised | None]:
        found = []
        for _ in range(readings):
            advice = self.reads().advice
            found.append(advice.kind if advice else None)
        return found


def advice_of(decision: Decision) -> Advice:
    assert decision.advice is not None
    return decision.advice


def test_scale_out_is_said_after_a_minute_of_readings() -> None:
    """900 a second of two instances that do 364 at their best: 450 / (0.8 x 364) = 1.55, in quarters 1.75."""
    service = Service(900)
    kinds = service.said(8)
    first = kinds.index(Advised.SCALE_OUT)
    assert first >= 5
    assert set(kinds[:first]) <= {None, Advised.KEEP}
    decision = service.reads()
    advice = advice_of(decision)
    assert advice.kind is Advised.SCALE_OUT
    assert (advice.cores, advice.replicas) == (4.0, 2)
    assert (advice.to_cores, advice.to_replicas) == (7.0, 4)
    assert advice.best_per_s == pytest.approx(364, rel=0.05)
    assert advice.in_time == pytest.approx(364 / 450, rel=0.05)
    code, text = decision.reasons[-1]
    assert code == "SCALE_OUT"
    assert "7 cores each or 4 replicas would do" in text


def test_it_ends_when_the_load_has_gone() -> None:
    service = Service(900)
    service.reads(10)
    service.load = 500
    kinds = service.said(10)
    assert kinds[0] is Advised.SCALE_OUT
    assert kinds[-1] is Advised.KEEP
    assert {first for first, second in pairwise(kinds) if first is not second} == {Advised.SCALE_OUT}


def test_nothing_of_it_without_callers() -> None:
    """A wait for a thread shows in no span of the pool's own."""
    service = Service(900, judged=False)
    assert Advised.SCALE_OUT not in service.said(12)


def test_nothing_of_it_while_a_bound_holds_the_pool_down() -> None:
    service = Service(900, size=4, bound=Constraints(most=4))
    assert Advised.SCALE_OUT not in service.said(12)


def test_nothing_of_a_service_that_is_slower_than_its_slo() -> None:
    """A request takes 20 ms where nobody waits: no hardware is known on which it takes 10."""
    service = Service(900, slo_s=0.010)
    assert set(service.said(12)) == {None}


def test_nothing_without_readings() -> None:
    service = Service(900)
    service.reads(10, told=False)
    assert service.state.learnt.standing.advice is None


def test_what_was_said_is_over_when_readings_stay_out() -> None:
    service = Service(900)
    assert advice_of(service.reads(10)).kind is Advised.SCALE_OUT
    assert service.reads(12, told=False).advice is not None
    assert service.reads(1, told=False).advice is None


def test_half_is_said_after_ten_minutes() -> None:
    """Full for a while, then 200 a second: half of the cores do about 180 of them an instance, of 100 asked."""
    service = Service(900)
    service.reads(4)
    service.load = 200
    kinds = service.said(70)
    first = kinds.index(Advised.SCALE_IN)
    assert first >= 59
    assert set(kinds[first:]) == {Advised.SCALE_IN}
    advice = advice_of(service.reads())
    assert (advice.to_cores, advice.to_replicas) == (2.0, 1)


def test_half_is_not_said_a_moment_longer_than_it_does() -> None:
    service = Service(900)
    service.reads(4)
    service.load = 200
    assert advice_of(service.reads(70)).kind is Advised.SCALE_IN
    service.load = 600
    assert service.said(1) == [Advised.KEEP]
    service.load = 200
    kinds = service.said(12)
    assert Advised.SCALE_IN not in kinds[:9]
    assert kinds[-1] is Advised.SCALE_IN


def test_half_of_the_replicas_is_rounded_up_and_one_stays() -> None:
    service = Service(1300, replicas=3)
    service.reads(4)
    service.load = 300
    service.reads(70)
    advice = advice_of(service.reads())
    assert (advice.kind, advice.to_replicas) == (Advised.SCALE_IN, 2)
    alone = Service(450, replicas=1)
    alone.reads(4)
    alone.load = 50
    assert advice_of(alone.reads(70)).to_replicas is None


def test_nothing_of_half_for_a_pool_that_was_never_full() -> None:
    """What it would do when full is not known but by what services do in general."""
    assert Advised.SCALE_IN not in Service(100).said(80)


def test_on_other_hardware_all_begins_anew() -> None:
    service = Service(900)
    assert advice_of(service.reads(10)).kind is Advised.SCALE_OUT
    service.replicas = 3
    assert service.said(1) == [Advised.KEEP]
    assert service.state.learnt.standing.short <= 1


def test_without_told_hardware_it_says_so_without_numbers() -> None:
    service = Service(900, replicas=None, cores=0.0)
    advice = advice_of(service.reads(12))
    assert (advice.kind, advice.to_cores, advice.to_replicas) == (Advised.SCALE_OUT, None, None)


def test_the_sizes_are_the_same_with_and_without() -> None:
    """Advice changes nothing of what is decided."""
    with_it, without = Service(900, size=5), Service(900, size=5)
    for _ in range(12):
        one, other = with_it.reads(), without.reads(of_threads=False)
        assert other.advice is None
        reasons = tuple(each for each in one.reasons if each[0] not in ("SCALE_OUT", "SCALE_IN"))
        assert replace(one, advice=None, reasons=reasons) == replace(other, advice=None)


@settings(max_examples=8, deadline=None)
@given(load=st.floats(50, 4_000), replicas=st.integers(1, 6), obeys=st.sampled_from(["replicas", "cores"]))
def test_who_does_what_is_said_comes_to_rest(load: float, replicas: int, obeys: str) -> None:
    """Whatever the load, an autoscaler that does all that is said ends where neither is, and is not sent to and fro."""
    service = Service(max(900.0, 450.0 * replicas), replicas)
    service.reads(4)
    service.load = load
    said: list[Advised] = []
    since = 0
    while since < 75 and len(said) < 12:
        advice = service.reads().advice
        since += 1
        if advice is None or advice.kind is Advised.KEEP:
            continue
        to = advice.to_replicas if obeys == "replicas" else advice.to_cores
        if to is None:
            continue
        if obeys == "replicas":
            assert 1 <= to <= 2 * (service.replicas or 1)
            assert to != service.replicas
            service.replicas = int(to)
        else:
            service.cores = float(to)
        said.append(advice.kind)
        since = 0
    assert len(said) < 12
    assert len({first for first, second in pairwise(said) if first is not second}) <= 1
