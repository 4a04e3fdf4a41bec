"""Turns the query's rows into samples: pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sluice.model.reason import Reason
from sluice.pools.estimate.samples import Floats, Samples

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class WindowRows:
    """The rows of one pool: columns of shape (r,), all whole numbers."""

    bucket_start_ms: Ints
    busy_ns: Ints
    own_completions: Ints
    own_good: Ints
    instances: Ints
    judge_completions: Ints
    judge_good: Ints
    judge_busy_ns: Ints

    def __len__(self) -> int:
        return len(self.bucket_start_ms)

    def take(self, keep: NDArray[np.bool_] | Ints | slice) -> WindowRows:
        """The rows where `keep` is True, or at the indices in it. Consecutive rows share memory."""
        if not isinstance(keep, slice) and keep.dtype == np.bool_:
            keep = _stretch(np.flatnonzero(keep))
        return WindowRows(*(getattr(self, name)[keep] for name in self.__dataclass_fields__))


def _stretch(indices: Ints) -> Ints | slice:
    """Ascending indices, as a slice where they are consecutive."""
    count = len(indices)
    if count and indices[-1] - indices[0] == count - 1:
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


@dataclass(frozen=True)
class PoolWindow:
    """One pool over one window. `bucket_start_ms`, shape (n,), belongs to the samples; limits are not known yet."""

    samples: Samples
    bucket_start_ms: Ints
    bucket_ms: int
    reasons: tuple[Reason, ...] = ()
    """The choice of the bucket length, where the data chose it."""

    @property
    def start_ms(self) -> int:
        return int(self.bucket_start_ms.min())

    @property
    def end_ms(self) -> int:
        return int(self.bucket_start_ms.max()) + self.bucket_ms

    @property
    def completions(self) -> int:
        return int(self.samples.completions.sum())

    def since(self, ms: int) -> PoolWindow | None:
        """Only the buckets that start at `ms` or later; None when nothing completed in them."""
        keep = self.bucket_start_ms >= ms
        if keep.all():
            return self
        samples = self.samples.take(keep)
        if samples.completions.sum() == 0:
            return None
        return replace(self, samples=samples, bucket_start_ms=self.bucket_start_ms[keep])


def complete_before(rows: WindowRows, to_ms: int, settle_ms: int) -> int | None:
    """Buckets of the pool that start before this time are complete; None when it has no row of its own.

    A span is sent when it ends, and takes time to arrive: the newest buckets lack the spans in flight or on their way,
    and look emptier than they were. The data themselves show how late spans are, not a clock: the limit is `settle_ms`
    before the newest bucket, so a pipeline that lags by 4 s gets 4 s more. `to_ms` caps it, so that a service whose
    clock is ahead does not make incomplete buckets look old.

    The older of two buckets counts: the newest with a row of the pool's own, and the newest with a completion in its
    judges' spans. Callers' spans whose peer only the traces show come seconds after the pool's own: own rows up to 60.0
    s, the judges' up to 54.0 s, settle 2 s -> 52.0 s. Up to 58.0 s, six seconds of work would count as work that no
    caller received.
    """
    own = rows.bucket_start_ms[(rows.busy_ns > 0) | (rows.own_completions > 0)]
    if len(own) == 0:
        return None
    judged = rows.bucket_start_ms[rows.judge_completions > 0]
    newest = min(int(own.max()), int(judged.max())) if len(judged) else int(own.max())
    return min(newest, to_ms) - settle_ms


def measure(rows: WindowRows, from_ms: int, before_ms: int, bucket_ms: int) -> PoolWindow | None:
    """Samples from the buckets with from_ms <= start < before_ms in which the pool had something in flight; None when
    nothing of it completed.

    Values are per instance: sums over instances divided by the instances that had something in flight in the bucket. An
    instance that had nothing is left out and does not count as an empty one, since it may be gone. (It may still have a
    row: a span that ends exactly where the bucket starts completes in it without having been in flight in it.)

    A bucket without a row of the pool's own had nothing in flight. It is left out: goodput at concurrency 0 is 0 by
    definition and says nothing about the pool. A bucket with something in flight in which nothing completed is a real
    0, and stays.

    Callers judge when the window has any caller's span, else the pool's own spans.
    """
    inside = (rows.bucket_start_ms >= from_ms) & (rows.bucket_start_ms < before_ms)
    own = rows.take(inside & (rows.instances > 0) & (rows.busy_ns > 0))
    by_caller = bool(own.judge_completions.sum() > 0)
    completions = own.judge_completions if by_caller else own.own_completions
    good = own.judge_good if by_caller else own.own_good
    if completions.sum() == 0:
        return None
    count = own.instances.astype(np.float64)
    samples = Samples(
        concurrency=own.busy_ns / (bucket_ms * 1e6) / count,
        goodput_per_s=_per_second(good, bucket_ms) / count,
        throughput_per_s=_per_second(own.own_completions, bucket_ms) / count,
        completions=completions.astype(np.float64),
        limit=np.full(len(count), np.nan),
        instances=int(own.instances.max()),
        caller_judged=by_caller,
    )
    return PoolWindow(samples, own.bucket_start_ms, bucket_ms)


def _per_second(count: Ints, bucket_ms: int) -> Floats:
    return count.astype(np.float64) * (1000.0 / bucket_ms)
