"""Whose requests wait for what they call: by hand."""

from sluice.model.keys import PoolKey
from sluice.pools.guard.callees import callees
from sluice.pools.policy.state import Facts, Learnt, PoolState

FRONT, CART = PoolKey("front", "server", ""), PoolKey("cart", "server", "")
TO_DB, TO_CART = PoolKey("front", "client", "db"), PoolKey("front", "client", "cart")


def state(size: int | None, *full: float) -> PoolState:
    return PoolState(Facts(current=size), Learnt(full=full))


def test_threads_wait_for_connections_that_are_all_taken() -> None:
    """The connections themselves are decided."""
    states = {FRONT: state(200, 1.0), TO_DB: state(2, 1.0, 1.0)}
    assert callees(states, [FRONT, TO_DB]) == {FRONT: "front/client/db, all 2 of which are taken"}


def test_threads_and_connections_wait_for_threads_of_the_callee() -> None:
    states = {FRONT: state(200, 1.0), TO_CART: state(20, 1.0), CART: state(4, 1.0)}
    why = "cart/server, all 4 of which are taken"
    assert callees(states, [FRONT, TO_CART, CART]) == {FRONT: why, TO_CART: why}


def test_threads_and_connections_wait_for_connections_of_the_callee() -> None:
    """The callee's own are decided; those of a service that calls nobody who waits, too."""
    cart_s = PoolKey("cart", "client", "db")
    states = {FRONT: state(200, 1.0), TO_CART: state(3, 1.0), cart_s: state(2, 1.0), CART: state(40, 0.1)}
    why = "cart/client/db, all 2 of which are taken"
    assert callees(states, [FRONT, TO_CART, cart_s, CART]) == {FRONT: why, TO_CART: why, CART: why}
    idle = {**states, cart_s: state(4, 0.5)}
    assert callees(idle, [FRONT, TO_CART, cart_s, CART]) == {FRONT: "front/client/cart, all 3 of which are taken"}


def test_of_two_services_that_call_each_other_none_is_held() -> None:
    back = PoolKey("cart", "client", "front")
    assert callees({TO_CART: state(3, 1.0), back: state(2, 1.0)}, [TO_CART, back]) == {}


def test_a_callee_that_is_full_for_less_than_0_9_of_the_time_holds_nobody() -> None:
    assert callees({FRONT: state(200, 1.0), TO_DB: state(2, 0.8, 1.0, 0.9)}, [FRONT, TO_DB]) != {}
    assert callees({FRONT: state(200, 1.0), TO_DB: state(2, 0.8, 0.9, 0.9)}, [FRONT, TO_DB]) == {}


def test_a_callee_of_which_nothing_is_known_holds_nobody() -> None:
    for of in ({}, {TO_DB: state(None, 1.0)}, {TO_DB: state(2)}):
        assert callees({FRONT: state(200, 1.0), **of}, [FRONT, TO_DB]) == {}


def test_a_service_does_not_wait_for_itself() -> None:
    own = PoolKey("cart", "client", "cart")
    assert callees({own: state(20), CART: state(4, 1.0)}, [own, CART]) == {}


def test_threads_that_are_full_are_nobody_s_fault_where_the_callee_has_room() -> None:
    assert callees({FRONT: state(4, 1.0), TO_CART: state(20, 0.2), CART: state(40, 0.1)}, [FRONT, TO_CART, CART]) == {}


def test_a_callee_whose_size_only_metrics_have_is_named_where_it_is_asked_for() -> None:
    states = {FRONT: state(None, 1.0), TO_DB: state(None, 1.0)}
    assert callees(states, [FRONT, TO_DB]) == {}
    assert callees(states, [FRONT, TO_DB], {TO_DB: 2}) == {FRONT: "front/client/db, all 2 of which are taken"}
