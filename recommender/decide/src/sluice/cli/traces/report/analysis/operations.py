"""Root operations: their response times, the ways of their critical paths, and the service that holds each one up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from operator import mul

import numpy as np

from sluice.cli.traces.report.analysis.names import Ints
from sluice.cli.traces.report.analysis.ranks import nearest_rank
from sluice.cli.traces.report.analysis.traces import Traces
from sluice.pools.estimate.critical import Localization, PathTimes, localize

#: Ways of an operation that are kept; the rest is summed.
MOST_WAYS = 5


@dataclass(frozen=True)
class Way:
    """Services in the order in which paths reach them; empty for the sum of rare ways."""

    services: tuple[str, ...]
    traces: int
    mean_ms: float


@dataclass(frozen=True)
class Operation:
    """traces: those with a complete path. Quantiles are by nearest rank, ms. errors: root spans that failed; None
    where they are not known."""

    service: str
    operation: str
    traces: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    errors: int | None
    ways: tuple[Way, ...]
    localization: Localization


def operations_of(traces: Traces, most: int) -> tuple[list[Operation], int]:
    """The operations of complete paths, at most `most`, those with most traces first, then by name.

    The number is that of further operations.
    """
    paths, labels = traces.paths, traces.labels
    texts = labels.names.texts
    complete = np.flatnonzero(~paths.incomplete)
    root = paths.root[complete]
    keys, which = np.unique(labels.service[root] * len(texts) + labels.operation[root], return_inverse=True)
    which = which.reshape(-1)
    counts = np.bincount(which, minlength=len(keys))
    service, operation = np.divmod(keys, len(texts))
    names = [(texts[one], texts[other]) for one, other in zip(service, operation, strict=True)]
    chosen = sorted(range(len(keys)), key=lambda number: (-counts[number], names[number]))
    begin = np.searchsorted(paths.part_path, np.arange(len(paths.root) + 1))
    parts = _Parts(begin, paths.part_service.tolist())
    operations = [_operation(traces, complete[which == number], parts) for number in chosen[:most]]
    return operations, max(0, len(keys) - most)


@dataclass(frozen=True)
class _Parts:
    """services: of the parts of all paths; those of a path from `begin[path]` to `begin[path + 1]`."""

    begin: Ints
    services: list[int]


def path_times(traces: Traces, numbers: Ints) -> list[PathTimes]:
    """Sums of each service over the paths with these numbers, by name."""
    paths, spans = traces.paths, traces.spans
    chosen = np.zeros(len(paths.root), dtype=np.bool_)
    chosen[numbers] = True
    whole = spans.end_ns[paths.root] - spans.start_ns[paths.root]
    parts = np.flatnonzero(chosen[paths.part_path])
    parts = parts[np.argsort(paths.part_service[parts], kind="stable")]
    services = paths.part_service[parts]
    borders = np.flatnonzero(np.diff(services, prepend=-1))
    times = [_times(traces, part, whole[paths.part_path[part]]) for part in np.split(parts, borders[1:]) if len(part)]
    return sorted(times, key=lambda service: service.service)


def _operation(traces: Traces, numbers: Ints, parts: _Parts) -> Operation:
    labels, spans, root = traces.labels, traces.spans, traces.paths.root[numbers]
    texts, first = labels.names.texts, int(root[0])
    took = np.sort(spans.end_ns[root] - spans.start_ns[root])
    p50_ms, p95_ms, p99_ms = (nearest_rank(took, share) / 1e6 for share in (0.5, 0.95, 0.99))
    service = texts[labels.service[first]]
    return Operation(
        service,
        texts[labels.operation[first]],
        len(numbers),
        p50_ms,
        p95_ms,
        p99_ms,
        errors=int(np.count_nonzero(labels.error[root])),
        ways=tuple(_ways(traces, numbers, parts)),
        localization=localize(service, path_times(traces, numbers)),
    )


def _times(traces: Traces, parts: Ints, whole_ns: Ints) -> PathTimes:
    paths = traces.paths
    blame, end_to_end = paths.blame_ns[parts].tolist(), whole_ns.tolist()
    quantiles = np.sort(paths.blame_ns[parts])
    return PathTimes(
        traces.labels.names.texts[paths.part_service[parts[0]]],
        len(parts),
        # Python's numbers: squares of nanoseconds exceed 64 bits.
        sum(blame),
        sum(map(mul, blame, blame)),
        sum(end_to_end),
        sum(map(mul, end_to_end, end_to_end)),
        sum(map(mul, blame, end_to_end)),
        sum(paths.own_ns[parts].tolist()),
        sum(paths.wait_ns[parts].tolist()),
        p50_ms=nearest_rank(quantiles, 0.5) / 1e6,
        p99_ms=nearest_rank(quantiles, 0.99) / 1e6,
    )


def _ways(traces: Traces, numbers: Ints, parts: _Parts) -> Iterator[Way]:
    paths, texts = traces.paths, traces.labels.names.texts
    lows, highs = parts.begin[numbers].tolist(), parts.begin[numbers + 1].tolist()
    took = (traces.spans.end_ns[paths.root[numbers]] - traces.spans.start_ns[paths.root[numbers]]).tolist()
    counts: Counter[tuple[int, ...]] = Counter()
    sums: Counter[tuple[int, ...]] = Counter()
    for low, high, ns in zip(lows, highs, took, strict=True):
        way = tuple(parts.services[low:high])
        counts[way] += 1
        sums[way] += ns
    frequent = sorted(counts, key=lambda way: (-counts[way], way))
    for way in frequent[:MOST_WAYS]:
        yield Way(tuple(texts[number] for number in way), counts[way], sums[way] / counts[way] / 1e6)
    if rest := frequent[MOST_WAYS:]:
        number = sum(counts[way] for way in rest)
        yield Way((), number, sum(sums[way] for way in rest) / number / 1e6)
