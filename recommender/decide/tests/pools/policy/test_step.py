"""`step` holds, whatever comes: sizes, bounds, gaps, and a clock that goes back."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.model.states import State
from sluice.pools.policy.case import WAIT_MS
from sluice.pools.policy.decision import Action, Basis, Decision
from sluice.pools.policy.fullness import full_share
from sluice.pools.policy.observation import Buckets, Constraints, Observation, Occupancy
from sluice.pools.policy.reach import largest
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from sluice.pools.policy.step import step
from sluice_kit.decide.feeds import FALLS, Curve, buckets, full, joined, nothing

T0 = 1_700_000_000_000


@dataclass(frozen=True)
class Period:
    """What happens in one: does the target take what was decided, or is another size set by hand; how busy is it."""

    lasts_ms: int
    sets: str | int
    busy: float
    curve: Curve
    constraints: Constraints


PERIODS = st.builds(
    Period,
    st.sampled_from([1_000, 1_000, 1_000, 2_500, 5_000, -4_000]),
    st.sampled_from(["obeys", "obeys", "obeys", "obeys", "stays", "mixed", "unbounded", "silent", 7, 200]),
    st.sampled_from([1.0, 1.0, 1.0, 1.0, 0.3, 0.0]),
    st.sampled_from([FALLS, FALLS, FALLS, Curve(contention=0.0, crosstalk=0.0), Curve(speed=10)]),
    st.builds(
        Constraints,
        st.sampled_from([1, 1, 4, 30]),
        st.sampled_from([1_000, 1_000, 1_000, 40, 0]),
        st.booleans(),
        st.sampled_from(["", "", "", "", "at night"]),
        st.sampled_from(["", "", "", "", "by ops: why"]),
    ),
)


@dataclass(frozen=True)
class Done:
    """A period as it was: in_force is the one size read, None where there is none or several."""

    seen: Observation
    now_ms: int
    before: PoolState
    after: PoolState
    decision: Decision
    in_force: int | None

    @property
    def code(self) -> str:
        return self.decision.reasons[0][0]

    @property
    def foreign(self) -> bool:
        return any(code == "FOREIGN" for code, _ in self.decision.reasons)


def played(size: int, periods: list[Period]) -> list[Done]:
    """Of a pool with two targets."""
    pool: dict[str, int] = {"a": size, "b": size}
    state, now_ms, found = PoolState(), T0, []
    for each in periods:
        if isinstance(each.sets, int):
            pool = {"a": each.sets, "b": each.sets}
        elif each.sets == "mixed":
            pool = {"a": pool["a"], "b": pool["a"] + 1}
        sizes: dict[str, int | None] = dict(pool)
        if each.sets == "unbounded":
            sizes = {"a": None}
        elif each.sets == "silent":
            sizes = {}
        came = by_target(now_ms, max(each.lasts_ms, 0), pool, each)
        now_ms += each.lasts_ms
        seen = Observation(sizes, came, 4.0, 0.5, constraints=each.constraints)
        after, decision = step(state, seen, now_ms)
        in_force = pool["a"] if len(set(sizes.values())) == 1 and None not in sizes.values() else None
        found.append(Done(seen, now_ms, state, after, decision, in_force))
        state = after
        if each.sets != "stays" and decision.action is Action.APPLY and decision.target:
            pool = {name: decision.target if takes(decision, name) else had for name, had in pool.items()}
    return found


def takes(decision: Decision, name: str) -> bool:
    return not decision.targets or name in decision.targets


def by_target(now_ms: int, lasts_ms: int, pool: dict[str, int], period: Period) -> Buckets:
    """As spans tell it: one series while sizes are alike, else of each target, one behind the other in each second."""

    def of(size: int, start_ms: int, part_ms: int) -> Buckets:
        in_flight = size * period.busy
        return buckets(
            start_ms, part_ms / 1_000, size, in_flight, period.curve.throughput(in_flight) if in_flight else 0.0
        )

    if len(set(pool.values())) == 1:
        return of(pool["a"], now_ms, lasts_ms)
    parts = [
        of(size, now_ms + at, min(1_000, lasts_ms - at)) for at in range(0, lasts_ms, 1_000) for size in pool.values()
    ]
    return joined(*parts) if parts else nothing()


HISTORIES = st.lists(PERIODS, min_size=1, max_size=20)
STARTS = st.sampled_from([1, 2, 5, 16, 60, 128])


TAKEN_BACK = ("COLLAPSED", "NO_GAIN", "ERRORS_RISE", "FEWER_IN_TIME", "CHECKED", "GAVE_UP")
CHECKS: list[Callable[[Done, list[Done]], None]] = []


def always(check: Callable[[Done, list[Done]], None]) -> Callable[[Done, list[Done]], None]:
    """check(done, what was before) holds for each period of any history."""
    CHECKS.append(check)
    return check


@always
def a_target_is_never_0(done: Done, before: list[Done]) -> None:
    assert done.decision.target is None or done.decision.target >= 1
    if done.decision.action is Action.APPLY:
        assert done.decision.target is not None


@always
def what_is_applied_is_within_the_constraints(done: Done, before: list[Done]) -> None:
    bound, decision = done.seen.constraints, done.decision
    if decision.action is Action.APPLY and 1 <= bound.least <= bound.most:
        assert bound.least <= decision.target <= bound.most


@always
def no_more_than_a_factor_2_at_a_time(done: Done, before: list[Done]) -> None:
    """But back into the constraints, or to what it had before another's change, which is at once; and until it is there
    the decision stays. A pool that collapses goes to the largest of the best sizes at once, by a factor 8 at most."""
    now, had = done.in_force, [each.before.facts.current for each in (*before, done) if each.foreign]
    if now is not None and done.decision.action is Action.APPLY and done.code not in ("OUTSIDE", *TAKEN_BACK):
        change = done.before.facts.change
        had += [change.to_size] if change is not None and change.from_size == now else []
        bound = done.seen.constraints
        had += [max(min(size, bound.most), bound.least) for size in had if size is not None]
        least, upper = -(-now // 2), done.decision.upper
        if done.code == "BETTER" and (done.decision.loss or 0.0) > 0.3 and upper is not None:
            least = max(min(least, upper), -(-now // 8))
        assert least <= done.decision.target <= max(2 * now, *filter(None, had), 0) or done.decision.target in had


@always
def one_change_in_3_s(done: Done, before: list[Done]) -> None:
    """Or one that somebody else's, or a bound that moved, made necessary: into new bounds goes beyond a factor 2. What
    does harm is taken back at once, and a sure way down goes on after a second."""
    change, last = done.after.facts.change, done.before.facts.change
    if (
        change is None
        or last is None
        or change == replace(last, targets=change.targets)
        or done.foreign
        or done.code == "OUTSIDE"
        or done.code in TAKEN_BACK
    ):
        return
    if not done.seen.constraints.least <= last.to_size <= done.seen.constraints.most:
        return
    if not last.from_size / 2 <= last.to_size <= last.from_size * 2:
        return
    # A size that was set by hand in the meantime ended the wait for ours.
    if any(each.foreign and each.after.facts.now_ms >= last.at_ms for each in before):
        return
    down = last.from_size > last.to_size == change.from_size > change.to_size
    goes_on = done.code == "BETTER" and down and last.basis in (Basis.CURVE, Basis.MEMORY)
    assert change.at_ms - last.at_ms >= (1_000 if goes_on else WAIT_MS)


@always
def back_is_to_the_operator_s_or_a_size_that_was_measured(done: Done, before: list[Done]) -> None:
    """Within the constraints; and while it is given up nothing else is asked for."""
    trust, bound = done.before.facts.trust, done.seen.constraints
    if done.code in TAKEN_BACK:
        known = {done.after.facts.trust.operator, *(each.size for each in trust.measured)}
        assert done.decision.target in {max(min(size, bound.most), bound.least, 1) for size in known}
    now_ms = done.after.facts.now_ms
    if now_ms < done.after.facts.trust.given_up_ms and done.in_force is not None and not bound.paused:
        assert done.code == "GAVE_UP"


@always
def a_pool_that_was_never_full_is_not_shrunk(done: Done, before: list[Done]) -> None:
    """But where an operator or a bound says so, or to what it had before another's change."""
    now, decision = done.in_force, done.decision
    if decision.action is not Action.APPLY or now is None or decision.target >= now or done.foreign:
        return
    if done.code in ("OUTSIDE", "SET", "MIXED", "STOPPED", "WAITING", "WAVE_BACK", "WAVE_ON", *TAKEN_BACK):
        return
    table = done.after.learnt.evidence.table
    full = table[(table[:, 1] > 0) & (table[:, 6] >= 0.84 * now * table[:, 5])]
    assert full[:, 5].sum() >= 1.95


@always
def a_change_is_that_of_the_decision(done: Done, before: list[Done]) -> None:
    change, last = done.after.facts.change, done.before.facts.change
    if change == last or (last is not None and change == replace(last, targets=())):
        return
    if change is None and done.foreign:
        return
    assert done.decision.action is Action.APPLY
    if done.code == "WAVE_ON":
        assert change == replace(last, at_ms=done.after.facts.now_ms, targets=done.decision.targets)
    elif done.code == "WAVE_BACK":
        assert (change.from_size, change.to_size, change.targets) == (last.to_size, last.from_size, ())
        assert done.decision.target == last.from_size
    else:
        assert (change.from_size, change.to_size) == (done.in_force, done.decision.target)
        assert (change.at_ms, change.basis) == (done.after.facts.now_ms, done.decision.basis)
        assert change.from_size != change.to_size


@always
def a_wave_is_of_what_is_chosen_and_leaves_somebody_out(done: Done, before: list[Done]) -> None:
    targets = done.decision.targets
    if targets:
        assert set(targets) < set(done.seen.sizes)
        assert done.after.facts.change.basis in (Basis.CURVE, Basis.PROBE)
        assert done.after.facts.change.targets == targets


@always
def held_while_nothing_may_change_or_nothing_is_known(done: Done, before: list[Done]) -> None:
    bound = done.seen.constraints
    within = done.in_force is not None and bound.least <= done.in_force <= bound.most
    if bound.paused or not done.seen.sizes or None in done.seen.sizes.values() or (bound.quiet and within):
        assert done.decision.action is Action.HOLD
    if bound.paused:
        assert (done.decision.basis, done.decision.state) == (Basis.OPERATOR, State.PAUSED)


@always
def now_never_falls(done: Done, before: list[Done]) -> None:
    assert done.after.facts.now_ms == max(done.before.facts.now_ms, done.now_ms)


@always
def the_same_state_and_observation_give_the_same_decision(done: Done, before: list[Done]) -> None:
    assert step(done.before, done.seen, done.now_ms) == (done.after, done.decision)


@always
def windows_that_come_again_teach_nothing(done: Done, before: list[Done]) -> None:
    again, _ = step(done.after, done.seen, done.now_ms)
    assert again.learnt == done.after.learnt


@always
def the_baseline_is_a_size_that_was_in_force_and_good(done: Done, before: list[Done]) -> None:
    baseline = done.after.facts.baseline
    if baseline != done.before.facts.baseline:
        assert baseline in done.seen.sizes.values()
        assert done.decision.state is State.PROVIDED
        assert done.decision.loss is not None
        assert done.decision.loss < 0.01


@always
def what_is_said_is_consistent(done: Done, before: list[Done]) -> None:
    decision = done.decision
    assert decision.reasons
    known = decision.loss is not None
    assert known == (decision.lower is not None) == (decision.upper is not None) == (decision.unguarded is not None)
    if known:
        assert 1 <= decision.lower <= decision.unguarded <= decision.upper
        assert decision.loss >= 0
    # While targets differ, what was said of the pool stands.
    if decision.state is State.PROVIDED and len(set(done.seen.sizes.values())) == 1:
        assert known


@given(STARTS, HISTORIES)
@settings(deadline=None, max_examples=60, derandomize=True)
def test_whatever_comes(size: int, periods: list[Period]) -> None:
    found = played(size, periods)
    for at, done in enumerate(found):
        for check in CHECKS:
            check(done, found[:at])


@pytest.mark.parametrize(
    ("start", "rests_s"),
    # From 300 the way leads over sizes that say little of those around the best: 13 to 17 are looked at until all are
    # known.
    [(2, 60), (5, 60), (16, 60), (60, 80), (128, 60), (300, 120)],
)
def test_a_steady_full_pool_comes_to_its_best_size_and_stays(start: int, rests_s: int) -> None:
    busy = Period(1_000, "obeys", 1.0, FALLS, Constraints())
    found = played(start, [busy] * (rests_s + 60))
    end = found[-1].in_force
    assert FALLS.throughput(end) >= 0.99 * FALLS.throughput(FALLS.best())
    changed = [at for at, (one, other) in enumerate(pairwise(found)) if one.in_force != other.in_force]
    # A look and the way back.
    assert len([at for at in changed if at >= rests_s]) <= 2
    late = {done.in_force for done in found[60:] if done.in_force is not None}
    assert min(map(FALLS.throughput, late)) >= 0.98 * FALLS.throughput(FALLS.best())


def test_under_a_steady_load_looking_ends() -> None:
    """A pool that is always full, counts by Poisson: the neighbours of its size are looked at, and then left alone."""
    chance, state, size, changes = np.random.default_rng(1), PoolState(), 16, []
    for second in range(900):
        came = buckets(T0 + 1_000 * second, 1, size, size, 1.0)
        came = replace(came, completions=chance.poisson(0.3 * FALLS.throughput(size), 10).astype(float))
        now_ms = T0 + 1_000 * (second + 1)
        state, decision = step(state, Observation({"a": size}, came, 4.0, 10.0), now_ms)
        if decision.action is Action.APPLY and decision.target not in (None, size):
            size = decision.target
            changes.append(second)
    assert len(changes) > 0
    assert len([each for each in changes if each >= 300]) <= 1
    assert FALLS.throughput(size) >= 0.99 * FALLS.throughput(FALLS.best())


def test_sizes_that_complete_equally_little_do_not_take_turns() -> None:
    """From 3 on, 73 a second complete: over the 180 s that evidence lasts, two sizes are told apart within 1.2 %."""
    chance, state, size, changes = np.random.default_rng(1), PoolState(), 4, []
    for second in range(1_200):
        came = buckets(T0 + 1_000 * second, 1, size, size, 1.0)
        came = replace(came, completions=chance.poisson(7.3 * min(1.0, size / 3), 10).astype(float))
        now_ms = T0 + 1_000 * (second + 1)
        state, decision = step(state, Observation({"a": size}, came, 4.0, 10.0), now_ms)
        if decision.action is Action.APPLY and decision.target not in (None, size):
            size = decision.target
            changes.append(second)
    assert len([each for each in changes if each >= 600]) <= 4
    assert size >= 3


@pytest.mark.parametrize(
    ("until_ms", "shares", "share"),
    [
        # Newest buckets before it: of the 5 s that are kept.
        (T0 - 100, (1.0, 1.0, 1.0, 1.0, 0.5), 0.9),
        # Of 1, 2 and 4 seconds of it.
        (T0 + 900, (1.0, 1.0, 1.0, 1.0, 0.5), 0.5),
        (T0 + 1_900, (1.0, 1.0, 1.0, 0.5, 0.7), 0.6),
        (T0 + 3_900, (1.0, 0.5, 0.5, 1.0, 0.8), 0.7),
        (T0 + 60_000, (0.0, 0.0, 0.5, 1.0, 0.8), 0.46),
        # Full for 2 s on end after little to do is full; for one it is not, nor after it was nearly full.
        (T0 + 60_000, (0.6, 0.9, 0.7, 1.0, 1.0), 0.84),
        (T0 + 60_000, (0.4, 0.1, 1.0, 1.0, 1.0), 1.0),
        # The second in which it filled is neither.
        (T0 + 60_000, (0.0, 0.0, 0.8, 1.0, 1.0), 1.0),
        (T0 + 60_000, (0.0, 0.8, 0.8, 1.0, 1.0), 0.72),
        (T0 + 60_000, (0.0, 0.0, 0.0, 0.9, 1.0), 1.0),
        (T0 + 60_000, (0.0, 0.0, 0.0, 0.0, 1.0), 0.2),
        (T0 + 900, (0.0, 0.0, 0.0, 0.9, 1.0), 1.0),
    ],
)
def test_how_full_a_pool_is_counts_from_its_last_change_on(
    until_ms: int, shares: tuple[float, ...], share: float
) -> None:
    learnt = Learnt(full=shares, until_ms=until_ms)
    assert full_share(Facts(change=Change(5, 10, T0, Basis.CURVE)), learnt) == pytest.approx(share)


def test_a_pool_that_is_half_full_at_twice_its_size_does_not_double_again() -> None:
    """5 threads are all taken, 10 by half: what is said of the 5 is no reason to have 20."""
    curve = Curve(contention=0.0, crosstalk=0.0)
    state, size, sizes = PoolState(), 5, []
    for second in range(12):
        came = buckets(T0 + 1_000 * second, 1, size, min(size, 6.0), curve.throughput(min(size, 6.0)))
        state, decision = step(state, Observation({"a": size}, came, 4.0, 10.0), T0 + 1_000 * (second + 1))
        if decision.action is Action.APPLY and decision.target:
            size = decision.target
        sizes.append(size)
    assert max(sizes) == 10


@pytest.mark.parametrize(("full", "size"), [(0.0, 10), (0.4, 10), (0.5, 13), (0.8, 13), (0.9, 20), (1.0, 20)])
def test_a_pool_grows_as_it_is_full(full: float, size: int) -> None:
    assert largest(10, full) == size
    assert largest(1, 0.6) == 2


@pytest.mark.parametrize(("burst_s", "waiting", "size"), [(0, 0.1, 2), (1, 0.0, 2), (1, None, 2), (1, 0.1, 3)])
def test_a_pool_grows_that_bursts_fill_where_callers_wait(burst_s: int, waiting: float | None, size: int) -> None:
    """2 connections, each held for 60 ms: all are taken for a second in ten, or never, else 0.6."""
    state, targets = PoolState(), set()
    for second in range(120):
        in_flight = 2.0 if second % 10 >= 10 - burst_s else 0.6
        came = buckets(T0 + 1_000 * second, 1, 2, in_flight, in_flight / 0.06)
        now_ms = T0 + 1_000 * (second + 1)
        reported = Occupancy(0.7, waiting, 0.1, now_ms, busy_most=2, waiting_most=2 if waiting else None, readings=10)
        state, decision = step(state, Observation({"a": 2}, came, 4.0, 0.4, occupancy=reported), now_ms)
        targets.add(decision.target or 0)
    assert max(targets) == size


@pytest.mark.parametrize(("most", "back"), [(1_000, 8), (3, 3)])
def test_after_a_look_at_a_smaller_size_the_pool_goes_back_up_at_once(most: int, back: int) -> None:
    """2 connections of 60 ms are full, and become 8. Then 8 a second come, of 33 before: a look at 2 shows that the
    demand fell. The next burst must not wait for 2 to be full. An operator may lower the bound during the look."""
    state, size, looked = PoolState(), 2, []
    for second in range(120):
        demand = 33.3 if second < 12 else 60.0 if second < 30 else 8.0
        done = min(demand, size / 0.06)
        came = buckets(T0 + 1_000 * second, 1, size, done * 0.06, done)
        bound = Constraints(1, most if looked and looked[-1] == 2 else 1_000)
        seen = Observation({"a": size}, came, 4.0, 0.4, constraints=bound)
        state, decision = step(state, seen, T0 + 1_000 * (second + 1))
        if decision.reasons[0][0] == "CHECKED":
            looked.append(size)
        if decision.action is Action.APPLY and decision.target:
            size = decision.target
            assert size <= bound.most
    assert looked[0] == 8
    assert looked[-1] == 2
    assert size == back


@pytest.mark.parametrize(("late_s", "taken_back"), [(0, False), (4, False), (60, True)])
def test_spans_that_come_in_batches_are_late_and_not_silent(late_s: int, taken_back: bool) -> None:
    """An SDK exports the spans of 5 s at once, and windows of them come a second later. The first batch after a change
    is late, or never comes."""
    state, size, came, changed_s, codes = PoolState(), 64, nothing(), None, []
    for second in range(40):
        came = joined(came, full(T0 + 1_000 * second, 1, size))
        batch_s = second - second % 5
        if changed_s is not None and second < changed_s + 5 + late_s:
            batch_s = changed_s
        seen = Observation({"a": size}, came.take(came.start_ms < T0 + 1_000 * batch_s), 4.0, 10.0)
        state, decision = step(state, seen, T0 + 1_000 * (second + 1))
        codes.append(decision.reasons[0][0])
        if decision.action is Action.APPLY and decision.target not in (None, size):
            if changed_s is not None:
                break
            size, changed_s = decision.target, batch_s
    assert changed_s is not None
    assert ("COLLAPSED" in codes) == taken_back
