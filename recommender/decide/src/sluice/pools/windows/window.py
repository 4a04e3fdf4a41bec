"""The data of the newest reading for each pool, computed on request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sluice.model.keys import PoolKey
from sluice.pools.policy.observation import Buckets
from sluice.pools.windows.rows import PoolWindow

Value = TypeVar("Value")


class OnDemand(Mapping[PoolKey, Value], Generic[Value]):
    """A value for each pool, computed from its number on request. The last one is kept: pools are read one after the
    other, and the windows of 10,000 take 300 MB."""

    def __init__(self, numbers: Mapping[PoolKey, int], make: Callable[[int], Value]) -> None:
        self._numbers, self._make = numbers, make
        self._last: tuple[PoolKey, Value] | None = None

    def __getitem__(self, key: PoolKey) -> Value:
        if self._last is None or self._last[0] != key:
            self._last = key, self._make(self._numbers[key])
        return self._last[1]

    def __iter__(self) -> Iterator[PoolKey]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


def _none(key: PoolKey, instances: Collection[str]) -> dict[str, Buckets]:
    return {}


def _as_they_are(key: PoolKey, buckets: Buckets, since_ms: int) -> Buckets:
    return buckets.since(since_ms)


@dataclass(frozen=True)
class Window:
    """The data of every pool. The real collector's window is valid until the next reading, since it shares the rows.

    pools      over the newest window, judged by the threshold, of the pools to judge; None where nothing completed
    complete   complete buckets of all that is kept, a little more than a window; None where nothing was in flight
    by_instance  complete buckets of the instances in these spans: by name, as `complete`
    since      of a pool's complete buckets, those that start later than a time in Unix ms, with what callers and
               callees show of them
    """

    pools: Mapping[PoolKey, PoolWindow | None]
    complete: Mapping[PoolKey, Buckets | None] = field(default_factory=dict)
    by_instance: Callable[[PoolKey, Collection[str]], dict[str, Buckets]] = _none
    since: Callable[[PoolKey, Buckets, int], Buckets] = _as_they_are
