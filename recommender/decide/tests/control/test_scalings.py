"""What pools stand on, from notifications that come late, twice and out of order."""

import itertools

from fakes import CART, DB
from sluice.control.scalings import Scaling, Scalings, Standing
from sluice.pools.estimate.memory import Footing


def told(at_ms: int, service: str = "cart", cores: float | None = None, version: str = "") -> Scaling:
    return Scaling(at_ms, service, cores, None, version, "vpa")


def standing(*events: Scaling) -> Standing:
    scalings = Scalings()
    scalings.restore(list(events))
    return scalings.standing(CART)


def test_nothing_told() -> None:
    assert standing() == Standing(Footing(), None)


def test_what_an_event_does_not_tell_stays() -> None:
    assert standing(told(1, cores=2), told(5, version="b")) == Standing(Footing(2, "b"), 5)


def test_an_event_that_changes_nothing_begins_nothing() -> None:
    assert standing(told(1, cores=2), told(5, cores=2)) == Standing(Footing(2), 1)
    replicas = Scaling(9, "cart", None, 4, "", "hpa")
    assert standing(told(1, cores=2), replicas) == Standing(Footing(2), 1)


def test_any_order_and_repeats_give_the_same() -> None:
    events = [told(1, cores=1), told(5, cores=2), told(9, cores=1, version="b")]
    for order in itertools.permutations(events):
        assert standing(*order, order[0]) == Standing(Footing(1, "b"), 9)


def test_what_was_left_and_when() -> None:
    events = [told(1, cores=1), told(5, cores=2), told(7, cores=2), told(9, cores=1, version="b")]
    for order in itertools.permutations(events):
        scalings = Scalings()
        scalings.restore(list(order))
        assert scalings.left(CART) == [(Footing(1), 5), (Footing(2), 9)]
    scalings.notify(told(6, "catalogue", cores=1))
    scalings.notify(told(8, "catalogue-db", cores=4))
    assert scalings.left(DB) == [(Footing(1), 8)]
    assert Scalings().left(CART) == []


def test_a_client_pool_stands_on_its_peer_too() -> None:
    scalings = Scalings()
    scalings.notify(told(3, "catalogue", cores=1))
    scalings.notify(told(7, "catalogue-db", cores=4, version="15"))
    assert scalings.standing(DB) == Standing(Footing(1, "", 4, "15"), 7)
    assert scalings.standing(CART) == Standing()
