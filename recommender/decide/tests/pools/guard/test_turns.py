"""One look at a time on a path."""

from sluice.model.keys import PoolKey
from sluice.pools.guard.turns import TURN_MS, paths, waiting
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState

CART, DB = PoolKey("cart", "server", ""), PoolKey("cart", "client", "cart-db")
FRONT, OTHER = PoolKey("frontend", "server", ""), PoolKey("mail", "server", "")
FULL, LIGHT = PoolState(learnt=Learnt(full=(1.0,) * 5)), PoolState(learnt=Learnt(full=(0.2,) * 5))
NOW = 1_000_000


def looking(since_ms: int, basis: Basis = Basis.PROBE) -> PoolState:
    return PoolState(Facts(change=Change(10, 12, since_ms, basis)), FULL.learnt)


def test_paths_are_pools_of_one_slo_or_of_neighbours() -> None:
    found = paths([(CART, ["checkout"]), (DB, []), (FRONT, ["checkout", "home"]), (OTHER, ["mail"])])
    assert sorted(map(sorted, found)) == [sorted([CART, DB, FRONT]), [OTHER]]


def test_a_pool_alone_on_its_path_never_waits() -> None:
    assert waiting({OTHER: FULL}, [{OTHER}], NOW) == set()


def test_the_full_ones_take_turns() -> None:
    states = {CART: FULL, DB: FULL, FRONT: LIGHT}
    first = waiting(states, [{CART, DB, FRONT}], 0)
    second = waiting(states, [{CART, DB, FRONT}], TURN_MS)
    assert {CART, DB} - first != {CART, DB} - second
    assert len({CART, DB} - first) == len({CART, DB} - second) == 1
    assert FRONT in first & second


def test_while_one_looks_the_others_wait() -> None:
    for now_ms in (NOW, NOW + TURN_MS - 1):
        assert waiting({CART: looking(NOW), DB: FULL}, [{CART, DB}], now_ms) == {DB}
    states = {CART: looking(NOW), DB: FULL}
    assert {frozenset(waiting(states, [{CART, DB}], NOW + at * TURN_MS)) for at in (1, 2)} == {
        frozenset({CART}),
        frozenset({DB}),
    }


def test_another_change_is_no_look() -> None:
    states = {CART: looking(NOW, Basis.CURVE), DB: FULL}
    assert {frozenset(waiting(states, [{CART, DB}], NOW + at * TURN_MS)) for at in (0, 1)} == {
        frozenset({CART}),
        frozenset({DB}),
    }


def test_a_path_without_a_full_pool_has_nobody_to_look() -> None:
    assert waiting({CART: LIGHT}, [{CART, DB}], NOW) == {CART, DB}
