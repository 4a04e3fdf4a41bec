"""Joins spans to traces: which spans repeat an id, and which span is whose parent.

A CLIENT and a SERVER span that share an id (Zipkin's B3) are two spans. The SERVER span gets an id of its own, as in
SharedIds.java, and hangs below the CLIENT span.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.cli.traces.report.analysis.names import Bools, Ints, Labels
from sluice.cli.traces.report.facts.facts import CLIENT, SERVER
from sluice.cli.traces.report.reading.columns import Spans
from sluice.fast.compiled import compiled

Ids = NDArray[np.uint64]
NONE = -1


@dataclass(frozen=True)
class Kinship:
    """By span. kept: the first span of its id in its trace. parent: number of the span above it; NONE without one.
    first: the kept span of its id; itself for a kept span. span_id: with ids of their own for SERVER spans.

    has_parent_id: also where that parent is not in the trace. children: kept spans, those of one parent together, from
    `begin[parent]` to `begin[parent + 1]`.
    """

    kept: Bools
    parent: Ints
    first: Ints
    span_id: Ids
    has_parent_id: Bools
    children: Ints
    begin: Ints


def kinship_of(spans: Spans, labels: Labels) -> Kinship:
    trace, ids, parents = spans.trace, spans.span_id.copy(), spans.parent_id.copy()
    is_server = labels.kind == SERVER
    order = np.lexsort((is_server, ids, trace))
    kept = np.zeros(len(trace), dtype=np.bool_)
    kept[order] = _firsts(trace[order], ids[order], is_server[order])
    in_order = order[kept[order]]
    pairs = _pairs(trace, ids, labels, in_order)
    if len(pairs):
        _separate(spans, labels, in_order, pairs, ids, parents)
    again = np.flatnonzero(kept)[np.lexsort((ids[kept], trace[kept]))]
    firsts = _firsts(trace[again], ids[again], np.zeros(len(again), dtype=np.bool_))
    kept[again[~firsts]] = False
    # A repeat stands where its ids, as they were sent, put it.
    ids = np.where(kept, ids, spans.span_id)
    parents = np.where(kept, parents, spans.parent_id)
    final = again[firsts]
    offsets = np.searchsorted(trace[final], np.arange(int(trace.max(initial=-1)) + 2))
    parent = find(offsets, final, ids, trace, parents)
    first = find(offsets, final, ids, trace, ids)
    children, begin = _children(kept, parent)
    return Kinship(kept, parent, first, ids, parents != 0, children, begin)


def _firsts(trace: Ints, ids: Ids, is_server: Bools) -> Bools:
    """Which of the sorted spans is the first of its trace, id and side."""
    new = np.ones(len(trace), dtype=np.bool_)
    new[1:] = (trace[1:] != trace[:-1]) | (ids[1:] != ids[:-1]) | (is_server[1:] != is_server[:-1])
    return new


def _pairs(trace: Ints, ids: Ids, labels: Labels, in_order: Ints) -> Ints:
    """Positions in `in_order` of CLIENT spans that the SERVER span of their id follows."""
    one, other = in_order[:-1], in_order[1:]
    same = (trace[one] == trace[other]) & (ids[one] == ids[other])
    return np.flatnonzero(same & (labels.kind[one] == CLIENT) & (labels.kind[other] == SERVER))


def _separate(spans: Spans, labels: Labels, in_order: Ints, pairs: Ints, ids: Ids, parents: Ids) -> None:
    """Changes the ids of SERVER spans in pairs, and the parents of what is below a pair."""
    clients, servers = in_order[pairs], in_order[pairs + 1]
    server_of = np.full(len(ids), NONE, dtype=np.int64)
    server_of[clients] = servers
    offsets = np.searchsorted(spans.trace[in_order], np.arange(int(spans.trace.max()) + 2))
    above = find(offsets, in_order, spans.span_id, spans.trace, spans.parent_id)
    below = np.flatnonzero(above != NONE)
    below = below[server_of[above[below]] != NONE]
    client, server = above[below], server_of[above[below]]
    of_client = (labels.service[below] == labels.service[client]) & (labels.service[below] != labels.service[server])
    moved = below[~of_client]
    parents[moved] = derived(spans.parent_id[moved])
    ids[servers] = derived(spans.span_id[servers])
    parents[servers] = spans.span_id[servers]


def derived(shared: Ids) -> Ids:
    """The id of a SERVER span in place of a shared one: SplitMix64's output for it."""
    mixed = shared + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return np.where(mixed == 0, np.uint64(1 << 56), mixed)


@compiled
def find(offsets: Ints, in_order: Ints, ids: Ids, trace: Ints, wanted: Ids) -> Ints:
    """By span: the first span of its trace in `in_order` with the id `wanted`; NONE without one, and for the id 0."""
    found = np.full(len(trace), -1, dtype=np.int64)
    for span in range(len(trace)):
        low, high = offsets[trace[span]], offsets[trace[span] + 1]
        end, target = high, wanted[span]
        if target == 0:
            continue
        while low < high:
            middle = (low + high) // 2
            if ids[in_order[middle]] < target:
                low = middle + 1
            else:
                high = middle
        if low < end and ids[in_order[low]] == target:
            found[span] = in_order[low]
    return found


def _children(kept: Bools, parent: Ints) -> tuple[Ints, Ints]:
    spans = np.flatnonzero(kept & (parent != NONE))
    children = spans[np.argsort(parent[spans], kind="stable")]
    return children, np.searchsorted(parent[children], np.arange(len(kept) + 1))
