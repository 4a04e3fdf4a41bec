"""A change of a pool with several targets: to one, to a few, to all; or back."""

import pytest

from sluice.model.keys import PoolKey
from sluice.pools.policy import state_message
from sluice.pools.policy.case import UNSEEN_MS
from sluice.pools.policy.decision import Action, Basis, Decision
from sluice.pools.policy.observation import Buckets, Constraints, Observation
from sluice.pools.policy.pace import Beat
from sluice.pools.policy.state import Change, PoolState
from sluice.pools.policy.step import step
from sluice.pools.policy.waves import completes_less, first_wave, next_wave
from sluice_kit.decide.feeds import FALLS, Curve, buckets, joined

T0 = 1_700_000_000_000
PODS = tuple("abcdefgh")


class Pool:
    """Replicas that are full, and each takes what it is told at once; spans tell them apart."""

    def __init__(self, size: int, pods: tuple[str, ...] = PODS, curve: Curve = FALLS) -> None:
        self.sizes: dict[str, int] = dict.fromkeys(pods, size)
        self.state, self.now_ms, self.curve = PoolState(), T0, curve
        self.bound = Constraints()
        self.refuses: set[str] = set()

    def second(self) -> Decision:
        came = joined(*(self._full(size) for size in self.sizes.values()))
        self.now_ms += 1_000
        seen = Observation(dict(self.sizes), came, 4.0, 10.0, constraints=self.bound)
        self.state, decision = step(self.state, seen, self.now_ms)
        if decision.action is Action.APPLY and decision.target is not None:
            for pod in set(decision.targets or self.sizes) & set(self.sizes) - self.refuses:
                self.sizes[pod] = decision.target
        return decision

    def _full(self, size: int) -> Buckets:
        return buckets(self.now_ms, 1, size, size, self.curve.throughput(size))

    def until(self, code: str, most: int = 60) -> Decision:
        for _ in range(most):
            decision = self.second()
            if decision.reasons[0][0] == code:
                return decision
        raise AssertionError(f"never {code}: {self.sizes}")

    def given(self) -> int:
        change = self.state.facts.change
        assert change is not None
        return sum(size == change.to_size for size in self.sizes.values())


def test_one_then_a_few_then_all() -> None:
    pool = Pool(64)
    first = pool.until("BETTER")
    assert (first.target, first.targets, first.basis) == (32, ("a",), Basis.CURVE)
    assert ("WAVE", "first on a: 1 of 8 targets") in first.reasons
    began_ms = pool.now_ms
    assert pool.second().reasons[0][0] == "WAITING"
    assert pool.given() == 1
    second = pool.until("WAVE_ON")
    assert (second.target, second.targets, second.basis) == (32, ("a", "b"), Basis.CURVE)
    assert pool.now_ms - began_ms >= 3_000
    last = pool.until("WAVE_ON")
    assert (last.target, last.targets) == (32, ())
    assert set(pool.sizes.values()) == {32}
    pool.second()
    assert pool.state.facts.change.targets == ()


def test_what_is_worse_on_one_goes_back_and_nobody_else_gets_it() -> None:
    """The curve was learnt of another service: what the first pod gets halves what it completes."""
    pool = Pool(64)
    pool.until("BETTER")
    pool.curve = Curve(contention=0.0, crosstalk=0.0)
    worst = max(list(pool.sizes.values())[1:])
    back = pool.until("WAVE_BACK")
    assert (back.target, back.targets, back.basis, back.action) == (64, (), Basis.REVERT, Action.APPLY)
    assert worst == 64
    assert set(pool.sizes.values()) == {64}


def test_a_pod_that_is_replaced_within_a_wave_is_not_waited_for() -> None:
    pool = Pool(64, PODS[:4])
    pool.until("BETTER")
    del pool.sizes["a"]
    pool.sizes["z"] = 64
    again = pool.until("BETTER")
    assert again.targets == ("b",)


def test_a_pod_that_comes_up_at_its_default_within_a_wave_ends_it() -> None:
    """Then three sizes are in force, and all get the one that most had."""
    pool = Pool(64, PODS[:4])
    pool.until("BETTER")
    del pool.sizes["d"]
    pool.sizes["z"] = 200
    mixed = pool.second()
    assert (mixed.reasons[0][0], mixed.target, mixed.targets) == ("MIXED", 64, ())
    assert set(pool.sizes.values()) == {64}


@pytest.mark.parametrize("default", [64, 200])
@pytest.mark.parametrize(("wave", "replaced"), [(1, "abcd"), (2, "efgh"), (2, "aceg")])
def test_half_of_the_pods_are_replaced_within_a_wave(wave: int, replaced: str, default: int) -> None:
    """They come up as the pool was, or at a default of their own. The change gets to all of them in the end, and nobody
    is ever given a size that nobody has but by a wave."""
    pool = Pool(64)
    pool.until("BETTER")
    if wave == 2:
        pool.until("WAVE_ON")
    for pod in replaced:
        del pool.sizes[pod]
        pool.sizes[pod.upper()] = default
    for _ in range(60):
        before = set(pool.sizes.values())
        decision = pool.second()
        assert set(decision.targets) <= set(pool.sizes)
        if decision.action is Action.APPLY and not decision.targets:
            assert decision.target in before
        if set(pool.sizes.values()) == {32}:
            return
    raise AssertionError(f"never 32 for all: {pool.sizes}")


def test_a_target_that_does_not_take_the_change_holds_it_up_for_so_long_and_no_longer() -> None:
    pool = Pool(64)
    pool.until("BETTER")
    pool.refuses = {"b"}
    assert pool.until("WAVE_ON").targets == ("a", "b")
    began_ms = pool.now_ms
    pool.until("WAVE_BACK")
    assert UNSEEN_MS <= pool.now_ms - began_ms <= UNSEEN_MS + 1_000


def test_quiet_hours_that_begin_within_a_wave_bring_all_together() -> None:
    pool = Pool(64)
    pool.until("BETTER")
    pool.bound = Constraints(quiet="at night")
    assert pool.second().target == 64
    assert set(pool.sizes.values()) == {64}


def test_another_decider_goes_on_with_the_wave() -> None:
    """Of a state that was written and read: the same as undisturbed."""
    key, pool = PoolKey("shop", "server", ""), Pool(64)
    pool.until("BETTER")
    facts, evidence = state_message.write_facts(key, pool.state), state_message.write_evidence(key, pool.state)
    pool.state = state_message.joined(state_message.read_facts(key, facts), state_message.read_evidence(key, evidence))
    assert pool.until("WAVE_ON").targets == ("a", "b")


@pytest.mark.parametrize(
    ("basis", "pods", "wave"),
    [
        (Basis.CURVE, PODS, ("a",)),
        (Basis.PROBE, ("b", "a"), ("a",)),
        (Basis.CURVE, ("a",), ()),
        (Basis.REVERT, PODS, ()),
        (Basis.MEMORY, PODS, ()),
        (Basis.CARRIED, PODS, ()),
    ],
)
def test_the_first(basis: Basis, pods: tuple[str, ...], wave: tuple[str, ...]) -> None:
    assert first_wave(basis, pods) == wave


@pytest.mark.parametrize(
    ("pods", "given", "wave"),
    [
        (2, ("p00",), ()),
        (3, ("p00",), ("p00", "p01")),
        (3, ("p00", "p01"), ()),
        (20, ("p00",), ("p00", "p01", "p02", "p03", "p04")),
        (20, ("p00", "p01", "p02", "p03", "p04"), ()),
        # One of them is gone: another takes its place.
        (20, ("p07", "gone"), ("p00", "p01", "p02", "p03", "p07")),
    ],
)
def test_the_next(pods: int, given: tuple[str, ...], wave: tuple[str, ...]) -> None:
    assert next_wave(given, [f"p{at:02}" for at in range(pods)]) == wave


@pytest.mark.parametrize(
    ("ours", "theirs", "seconds", "less"),
    [
        (15.0, 40.0, 6, True),
        (20.0, 40.0, 6, False),
        # 2 s are too few, and so are under 10 completions.
        (15.0, 40.0, 2, False),
        (1.0, 3.2, 3, False),
        (1.0, 3.4, 3, True),
    ],
)
def test_a_target_that_completes_less_than_half_of_what_the_others_do(
    ours: float, theirs: float, seconds: int, less: bool
) -> None:
    """Of the same seconds, without errors: 30 a second fail at the new size."""
    change = Change(32, 16, 1_000_000, Basis.CURVE, ("a",))
    beats = [
        Beat(1_000 + at, size, good, failed, 5.0, 1.0)
        for at in range(seconds)
        for size, good, failed in ((16, ours, 30.0), (32, theirs, 0.0))
    ]
    before = [Beat(900 + at, 16, 100.0, 0.0, 5.0, 1.0) for at in range(10)]
    assert completes_less(change, (*before, *beats)) == less


@pytest.mark.parametrize(
    ("ours", "in_flight", "less"),
    [
        # A slow callee: 495 of 570 are due.
        (82.0, 48.0, True),
        (83.0, 48.0, False),
        # Requests that hinder each other.
        (110.0, 48.0, False),
        # The others are full: 0.85 of 64 is 54.4. Or all of 32 have a place.
        (82.0, 55.0, False),
        (82.0, 32.0, False),
    ],
)
def test_a_smaller_target_that_completes_less_than_others_that_are_not_full(
    ours: float, in_flight: float, less: bool
) -> None:
    change = Change(64, 32, 1_000_000, Basis.CURVE, ("a",))
    beats = tuple(
        Beat(1_000 + at, size, good, 0.0, n, 1.0)
        for at in range(6)
        for size, good, n in ((32, ours, 32.0), (64, 95.0, in_flight))
    )
    assert completes_less(change, beats) == less
