"""Each rival holds what its description says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.subsets.connections import Connections
from sluice.subsets.fleet import Fleet
from sluice.subsets.rivals.a68 import a68
from sluice.subsets.rivals.aperture import aperture
from sluice.subsets.rivals.full import full
from sluice.subsets.rivals.proportional import proportional
from sluice.subsets.rivals.ring import order, place
from sluice.subsets.rivals.rocksteadier import rocksteadier
from sluice.subsets.rivals.sre import sre

RULES = [full, sre, rocksteadier, aperture, proportional, a68]
SIZES = st.tuples(st.integers(1, 60), st.integers(1, 60), st.integers(1, 12))


def fleet(name: str, count: int) -> Fleet:
    names = tuple(f"{name}-{number:03d}" for number in range(count))
    return Fleet(name, names, np.zeros((count, 3)), np.full(count, -1), np.full(count, np.inf))


def ask(rule, above: int, below: int, size: int, sent: np.ndarray | None = None) -> Connections:  # type: ignore[no-untyped-def]
    size = min(size, below)
    load = np.ones(above) if sent is None else sent
    return rule(fleet("a", above), fleet("b", below), load, size, size * above)


@pytest.mark.parametrize("rule", RULES)
@given(SIZES)
def test_connections_are_in_order_none_twice_and_shares_add_up(rule, sizes) -> None:  # type: ignore[no-untyped-def]
    above, below, size = sizes
    subsets = ask(rule, above, below, size)
    assert len(subsets.start) == above + 1
    for client in range(above):
        to = subsets.to[subsets.start[client] : subsets.start[client + 1]]
        assert (np.diff(to) > 0).all()
        assert len(to) > 0
        assert subsets.share[subsets.start[client] : subsets.start[client + 1]].sum() == pytest.approx(1)
    assert subsets.received(np.ones(above), below).sum() == pytest.approx(above)


@pytest.mark.parametrize("rule", [sre, rocksteadier, proportional, a68])
@given(SIZES)
def test_each_has_as_many_as_it_was_told(rule, sizes) -> None:  # type: ignore[no-untyped-def]
    above, below, size = sizes
    assert set(ask(rule, above, below, size).sizes().tolist()) == {min(size, below)}


def test_full_connects_everybody() -> None:
    assert len(ask(full, 7, 5, 2)) == 35


@given(SIZES)
def test_sre_uses_each_backend_once_a_round(sizes: tuple[int, int, int]) -> None:
    above, below, size = sizes
    size = min(size, below)
    subsets = ask(sre, above, below, size)
    a_round = below // size
    for begin in range(0, above - a_round + 1, a_round):
        used = subsets.to[subsets.start[begin] : subsets.start[begin + a_round]]
        assert len(set(used.tolist())) == a_round * size == below - below % size


def test_ringsteady_stands_where_bits_in_reverse_say() -> None:
    assert [place(number) for number in range(5)] == [0.0, 0.5, 0.25, 0.75, 0.125]
    assert order(6) == [0, 4, 2, 1, 5, 3]


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 12))
def test_rocksteadier_balances_whole_lots(lots_above: int, lots_below: int, size: int) -> None:
    """Ten clients of a lot use each backend of a lot equally often, up to one."""
    subsets = ask(rocksteadier, 10 * lots_above, 10 * lots_below, size)
    for begin in range(0, 10 * lots_above, 10):
        used = np.bincount(subsets.to[subsets.start[begin] : subsets.start[begin + 10]], minlength=10 * lots_below)
        assert used.max() - used.min() <= 1


@given(SIZES)
def test_aperture_gives_each_backend_exactly_the_same(sizes: tuple[int, int, int]) -> None:
    above, below, size = sizes
    subsets = ask(aperture, above, below, size)
    assert subsets.received(np.ones(above), below) == pytest.approx(np.full(below, above / below), rel=1e-6)
    assert subsets.sizes().min() >= min(size, below)


def test_aperture_of_ten_clients_on_four_backends() -> None:
    """Slices of 0.1 and 0.25: an aperture of 1 is 3 of the first, so it overlaps with two or three of the second."""
    assert set(ask(aperture, 10, 4, 1).sizes().tolist()) <= {2, 3}


def test_proportional_gives_more_connections_to_those_who_send_more() -> None:
    subsets = ask(proportional, 4, 20, 5, np.array([1.0, 2.0, 3.0, 4.0]))
    assert subsets.sizes().tolist() == [2, 4, 6, 8]
    assert subsets.received(np.array([1.0, 2.0, 3.0, 4.0]), 20) == pytest.approx(np.full(20, 0.5))


@given(SIZES, st.data())
def test_a68_changes_at_most_one_connection_of_a_client_where_a_backend_goes(sizes, data) -> None:  # type: ignore[no-untyped-def]
    above, below, size = sizes
    size = min(size, below)
    previous = ask(a68, above, below + 1, size)
    gone = data.draw(st.integers(0, below))
    names = tuple(name for number, name in enumerate(fleet("b", below + 1).names) if number != gone)
    less = Fleet("b", names, np.zeros((below, 3)), np.full(below, -1), np.full(below, np.inf))
    after = a68(fleet("a", above), less, np.ones(above), size, size * above)
    kept = np.delete(np.arange(below + 1), gone)
    for client in range(above):
        was = set(previous.to[previous.start[client] : previous.start[client + 1]].tolist())
        now = set(kept[after.to[after.start[client] : after.start[client + 1]]].tolist())
        assert len(was - now) <= 1
