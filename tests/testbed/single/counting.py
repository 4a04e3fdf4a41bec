"""Windows of finished requests: what ``columns.SpanColumns`` counts, in one pass over the rows of a run."""

import numpy as np

from ..columns import Counts, longest_good
from .jit import compiled
from .memory import Floats, Ints

NS = 1e9
ARRIVED, BEGUN, ENDED = range(3)


@compiled
def first_ended(rows: Floats, recorded: int, since_ns: int) -> int:
    """The first row that ended at ``since_ns`` or later; rows stand in the order of their ends."""
    low, high = 0, recorded
    while low < high:
        middle = (low + high) // 2
        if int(np.rint(rows[middle, ENDED] * NS)) < since_ns:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _tally(
    rows: Floats, recorded: int, start: int, since: int, length: int, longest: int, busy: Ints, counts: Ints
) -> None:
    """busy: shape (n,); counts: shape (3, n): completions, errors, good."""
    buckets = busy.shape[0]
    until = since + buckets * length
    whole = np.zeros(buckets + 1, dtype=np.int64)
    for row in range(first_ended(rows, recorded, since), recorded):
        failed = rows[row, BEGUN] < 0
        if failed and start == BEGUN:
            continue
        begin = int(np.rint(rows[row, start] * NS))
        end = int(np.rint(rows[row, ENDED] * NS))
        if end < until:
            bucket = (end - since) // length
            counts[0, bucket] += 1
            counts[1, bucket] += failed
            counts[2, bucket] += end - begin <= longest
        if begin >= until:
            continue
        low, high = max(begin - since, 0), min(end - since, until - since)
        first, last = low // length, high // length
        whole[first] += length
        whole[last] -= length
        busy[first] -= low - first * length
        if last < buckets:
            busy[last] += high - last * length
    running = 0
    for bucket in range(buckets):
        running += whole[bucket]
        busy[bucket] += running


def counts(rows: Floats, recorded: int, start: int, since_ns: int, buckets: int, length_ns: int, within: int) -> Counts:
    """Of spans from column ``start`` to their end; a request that was turned away has none that begins with a thread.

    ``within``: the threshold, ns.
    """
    busy, tallies = np.zeros(buckets, dtype=np.int64), np.zeros((3, buckets), dtype=np.int64)
    if buckets:
        _tally(rows, recorded, start, since_ns, length_ns, longest_good(within), busy, tallies)
    return Counts(busy, (busy > 0).astype(np.int64), tallies[0], tallies[1], tallies[2])


def durations(rows: Floats, recorded: int, start: int, since_ns: int, until_ns: int) -> Ints:
    """ns, of those that ended in [since, until), in the order of their ends."""
    low, high = first_ended(rows, recorded, since_ns), first_ended(rows, recorded, until_ns)
    ended = rows[low:high]
    if start == BEGUN:
        ended = ended[ended[:, BEGUN] >= 0]
    whole = np.rint(ended * NS).astype(np.int64)
    return whole[:, ENDED] - whole[:, start]
