"""Head sampling by trace id: what each SDK's sampler leaves is found, and ids that are not random show nothing."""

import random
import uuid
from collections.abc import Callable, Iterator
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.sampling.trace_ids import UNBOUNDED, TraceIds, kept_share, too_few

ALL = 2**63 - 1


def bounds(ids: Iterator[int]) -> TraceIds:
    return TraceIds.of(of.to_bytes(16) for of in ids)


def words_of(of: int) -> int:
    return (of >> 96 ^ of >> 64 ^ of >> 32 ^ of) & (2**32 - 1)


def head_of(of: int) -> int:
    head = of >> 64
    return abs(head - 2**64 if head >= 2**63 else head)


#: What each sampler keeps, by the source of its SDK.
SAMPLERS: dict[str, Callable[[int, float], bool]] = {
    "java, jaeger": lambda of, p: of & ALL < p * 2**63,
    "go": lambda of, p: (of & (2**64 - 1)) >> 1 < p * 2**63,
    "python": lambda of, p: of & (2**64 - 1) < p * 2**64,
    "javascript": lambda of, p: words_of(of) < p * (2**32 - 1),
    "dotnet": lambda of, p: head_of(of) < p * 2**63,
    "consistent": lambda of, p: of % 2**56 >= (1 - p) * 2**56,
}


def random_ids(seed: int) -> Iterator[int]:
    rng = random.Random(seed)
    while True:
        yield rng.getrandbits(128)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("kept", [0.5, 0.2, 0.1, 0.01])
def test_a_sampler_shows_in_200_ids(sampler: str, kept: float) -> None:
    keeps = SAMPLERS[sampler]
    left = bounds(islice((of for of in random_ids(7) if keeps(of, kept)), 200))
    found = kept_share(left)
    assert found is not None
    assert kept * 0.9 <= found <= kept
    assert not too_few(left)


@given(seed=st.integers(0, 10**6), number=st.integers(1, 400))
def test_all_ids_show_no_bound(seed: int, number: int) -> None:
    ids = bounds(islice(random_ids(seed), number))
    assert kept_share(ids) is None
    if number >= 200:  # below 0.9 with a probability of 10^-9
        assert not too_few(ids)


@pytest.mark.parametrize("sampler", SAMPLERS)
@given(seed=st.integers(0, 10**6), number=st.integers(1, 12))
def test_a_few_ids_of_a_sample_are_never_taken_for_all(sampler: str, seed: int, number: int) -> None:
    """So nothing is applied before the bound is certain."""
    left = bounds(islice((of for of in random_ids(seed) if SAMPLERS[sampler](of, 0.5)), number))
    if number > 1 or sampler != "dotnet":  # a single head may be one with a time in front
        assert kept_share(left) is not None or too_few(left) or min(left.shares) >= UNBOUNDED or number < 8


def test_the_bound_by_hand() -> None:
    """0.5^30 = 9.3e-10, 0.5^29 = 1.9e-9."""
    half = [2**62] * 5
    assert kept_share(TraceIds(30, *half, 0, 0)) == 0.5
    assert kept_share(TraceIds(29, *half, 0, 0)) is None
    assert too_few(TraceIds(29, *half, 0, 0))


def ticking(seed: int) -> Iterator[int]:
    """X-Ray's: a time in s, then 96 random bits."""
    rng = random.Random(seed)
    return (((1_764_000_000 + at // 10) << 96) | rng.getrandbits(96) for at in range(10**6))


def of_63_bits(seed: int) -> Iterator[int]:
    """Datadog's: the last 63 bits, after zeros or after a time."""
    rng = random.Random(seed)
    return (rng.getrandbits(63) | (1_764_000_000 << 96) for _ in range(10**6))


def of_b3(seed: int) -> Iterator[int]:
    rng = random.Random(seed)
    return (rng.getrandbits(64) for _ in range(10**6))


def uuids(seed: int) -> Iterator[int]:
    rng = random.Random(seed)
    return (uuid.UUID(int=rng.getrandbits(128), version=4).int for _ in range(10**6))


@pytest.mark.parametrize("ids", [ticking, of_63_bits, of_b3, uuids])
def test_ids_that_are_not_random_throughout_show_no_bound(ids: Callable[[int], Iterator[int]]) -> None:
    whole = bounds(islice(ids(3), 2_000))
    assert kept_share(whole) is None
    assert not too_few(whole)


def test_ids_that_count_up_show_no_bound() -> None:
    counting = bounds(iter(range(1, 1_000)))
    assert kept_share(counting) is None
