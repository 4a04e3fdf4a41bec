"""What a backend's capacity leaves to its callers."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.core.keys import PoolKey
from sluice.pools.guard.backends import Demand, ceilings

A, B = PoolKey("a", "client", "db"), PoolKey("b", "client", "db")


def sizes(capacity: int, demands: dict[PoolKey, Demand]) -> dict[PoolKey, int]:
    return {key: ceiling.size for key, ceiling in ceilings("db", capacity, demands).items()}


def test_nothing_is_said_while_all_fit() -> None:
    assert ceilings("db", 140, {A: Demand(20, 4), B: Demand(30, 2)}) == {}


def test_the_worked_example() -> None:
    assert sizes(100, {A: Demand(20, 4), B: Demand(30, 2)}) == {A: 14, B: 22}


def test_a_service_that_scales_out_gives_up_size_for_replicas() -> None:
    assert sizes(100, {A: Demand(20, 10)}) == {A: 10}


def test_the_arithmetic_is_told() -> None:
    text = ceilings("db", 100, {A: Demand(20, 10)})[A].text
    assert text == "db takes 100 in all, its callers ask for 200: 10 for each of 10 instances"


def test_more_instances_than_capacity_leaves_one_each_and_says_so() -> None:
    ceiling = ceilings("db", 5, {A: Demand(3, 8)})[A]
    assert ceiling.size == 1
    assert "even at 1 each" in ceiling.text


@given(
    st.integers(1, 500),
    st.dictionaries(
        st.integers(0, 9).map(lambda n: PoolKey(f"s{n}", "client", "db")),
        st.builds(Demand, st.integers(1, 100), st.integers(1, 20)),
        min_size=1,
    ),
)
def test_what_is_left_fits_never_grows_and_is_never_zero(capacity: int, demands: dict[PoolKey, Demand]) -> None:
    given_sizes = {key: demand.size for key, demand in demands.items()} | sizes(capacity, demands)
    assert all(1 <= size <= demands[key].size for key, size in given_sizes.items())
    used = sum(demands[key].instances * size for key, size in given_sizes.items())
    least = sum(demand.instances for demand in demands.values())
    if capacity >= least:
        assert used <= capacity
