"""What a backend's capacity leaves to its callers."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sluice.model.keys import PoolKey
from sluice.pools.guard.backends import BackendDemand, ceilings

A, B = PoolKey("a", "client", "db"), PoolKey("b", "client", "db")


def sizes(capacity: int, demands: dict[PoolKey, BackendDemand]) -> dict[PoolKey, int]:
    return {key: ceiling.size for key, ceiling in ceilings("db", capacity, demands).items()}


def test_what_nobody_holds_is_shared() -> None:
    """140 of 170 are held; 30 in 6 instances are 5 each."""
    assert sizes(170, {A: BackendDemand(20, 20, 4), B: BackendDemand(30, 30, 2)}) == {A: 25, B: 35}


def test_the_worked_example() -> None:
    a, b = BackendDemand(20, 20, 4), BackendDemand(30, 10, 2)
    assert sizes(100, {A: a, B: b}) == {A: 14, B: 10}
    # The shrink was read back.
    assert sizes(100, {A: replace(a, reserved=14), B: b}) == {A: 14, B: 22}


def test_half_of_the_shrink_is_read_back() -> None:
    """4 x 17 + 2 x 10 = 88 are held, 12 are free: 6 of the 12 more for each instance of b."""
    assert sizes(100, {A: BackendDemand(20, 17, 4), B: BackendDemand(30, 10, 2)}) == {A: 14, B: 16}


def test_a_service_that_scales_out_gives_up_size_for_replicas() -> None:
    assert sizes(100, {A: BackendDemand(20, 20, 10)}) == {A: 10}


def test_nobody_is_made_to_shrink_while_all_fit() -> None:
    assert sizes(100, {A: BackendDemand(5, 50, 1), B: BackendDemand(20, 20, 1)}) == {A: 65, B: 35}


def test_the_arithmetic_is_told() -> None:
    text = ceilings("db", 100, {A: BackendDemand(20, 20, 10)})[A].text
    assert text == "db takes 100 in all, its callers hold 200: 10 for each of 10 instances"


def test_more_instances_than_capacity_leaves_one_each() -> None:
    assert sizes(5, {A: BackendDemand(3, 3, 8)}) == {A: 1}


DEMANDS = st.dictionaries(
    st.integers(0, 9).map(lambda n: PoolKey(f"s{n}", "client", "db")),
    st.builds(BackendDemand, st.integers(1, 100), st.integers(1, 100), st.integers(1, 20)),
    min_size=1,
)


@given(st.integers(1, 5_000), DEMANDS)
def test_whatever_is_taken_or_kept_fits(capacity: int, demands: dict[PoolKey, BackendDemand]) -> None:
    """Each pool may stay at what it holds or go to its ceiling, in any order, and grow while others still hold theirs;
    only what is held beyond the capacity already stays so until it is read back."""
    found = sizes(capacity, demands)
    assert all(size >= 1 for size in found.values())
    held = sum(each.instances * each.reserved for each in demands.values())
    at_most = sum(each.instances * max(each.reserved, found[key]) for key, each in demands.items())
    assert at_most <= max(capacity, held)
    least = sum(each.instances for each in demands.values())
    if capacity >= least:
        done = {key: replace(each, reserved=min(each.reserved, found[key])) for key, each in demands.items()}
        assert sum(each.instances * each.reserved for each in done.values()) <= capacity


@given(st.integers(1, 5_000), DEMANDS)
def test_all_come_to_their_share_and_stay(capacity: int, demands: dict[PoolKey, BackendDemand]) -> None:
    """Each takes its ceiling, or what it wants where that is less."""
    for _ in range(100):
        before = demands
        found = sizes(capacity, demands)
        demands = {key: replace(each, reserved=min(found[key], each.wanted)) for key, each in demands.items()}
        if demands == before:
            break
    assert demands == before
    if sum(each.instances * each.wanted for each in demands.values()) <= capacity:
        assert all(each.reserved == each.wanted for each in demands.values())
