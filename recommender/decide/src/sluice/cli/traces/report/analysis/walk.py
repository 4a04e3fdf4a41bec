"""The critical path of each trace, walked back from its end. The rules are those of Placement.java and Walk.java."""

from __future__ import annotations

import numpy as np

from sluice.cli.traces.report.analysis.names import Bools, Ints
from sluice.cli.traces.report.facts.facts import CLIENT, CONSUMER, PRODUCER, SERVER
from sluice.fast.compiled import compiled

#: Why a span is on no path, and that it may be on one.
ACCEPTED, SELF_PARENT, ASYNCHRONOUS, OUTSIDE_PARENT, CYCLE = range(5)
# Calls that overlap by so little follow one another: up to 1 % of the shorter one, and 1 ms.
_SERIAL_NS, _SERIAL_PARTS = 1_000_000, 100


@compiled
def place(
    roots: Ints, children: Ints, begin: Ints, start_ns: Ints, end_ns: Ints, kind: Ints, host: Ints, linked: Bools
) -> tuple[Ints, Ints, Ints, Ints]:
    """By span: its start and end within its parent's time, by how much it was moved for the clock of its host, and why
    it is on no path. roots: spans without a parent in the trace, and those that are their own parent. linked: roots of
    asynchronous traces."""
    size = len(start_ns)
    start, end, shift, clock = start_ns.copy(), end_ns.copy(), np.zeros(size, dtype=np.int64), host.copy()
    exclusion = np.full(size, CYCLE, dtype=np.int64)
    stack, height = np.empty(size, dtype=np.int64), 0
    for root in roots:
        exclusion[root] = ASYNCHRONOUS if linked[root] else ACCEPTED
        for at in range(begin[root], begin[root + 1]):
            if children[at] == root:
                exclusion[root] = SELF_PARENT
        stack[height] = root
        height += 1
    while height > 0:
        height -= 1
        parent = stack[height]
        for at in range(begin[parent], begin[parent + 1]):
            child = children[at]
            if child == parent:
                continue
            stack[height] = child
            height += 1
            if exclusion[parent] != ACCEPTED:
                exclusion[child] = exclusion[parent]
                continue
            if kind[child] == CONSUMER and kind[parent] == PRODUCER:
                exclusion[child] = ASYNCHRONOUS
                continue
            if clock[child] == 0:
                clock[child] = clock[parent]
            if clock[parent] == 0 or clock[child] == clock[parent]:
                shift[child] = shift[parent]
            elif kind[child] == SERVER and kind[parent] == CLIENT:
                client_from, client_to = start_ns[parent] + shift[parent], end_ns[parent] + shift[parent]
                length = end_ns[child] - start_ns[child]
                spare, late = (client_to - client_from) - length, end_ns[child] - client_to
                if client_from <= start_ns[child] and end_ns[child] <= client_to:
                    shift[child] = 0
                elif spare >= 0 and client_from <= start_ns[child] and 2 * late <= length:
                    shift[child] = -late
                elif spare >= 0:
                    shift[child] = client_from + spare // 2 - start_ns[child]
                elif not client_from <= start_ns[child] < client_to:
                    shift[child] = client_from - start_ns[child]
            begins, ends = start_ns[child] + shift[child], end_ns[child] + shift[child]
            start[child], end[child] = max(begins, start[parent]), min(ends, end[parent])
            is_point = start[child] == end[child] and (begins == ends or start[parent] == end[parent])
            exclusion[child] = ACCEPTED if start[child] < end[child] or is_point else OUTSIDE_PARENT
    return start, end, shift, exclusion


@compiled
def walk(
    roots: Ints,
    tree: tuple[Ints, Ints],
    placed: tuple[Ints, Ints, Ints],
    kind: Ints,
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
    """tree: children and begin of a Kinship, siblings sorted by end, start and id. placed: start, end and exclusion of
    `place`.

    The spans on paths, those of one path together in the order in which the request reaches them, and the position of
    the root of each in `roots`. By span, if it is on a path: its time there, its depth, its end there, and how long its
    request waited for a thread; times in ns.
    """
    children, begin = tree
    start, end, exclusion = placed
    size = len(start)
    until, cursor, following = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    met, after, wait = np.full(size, -1, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    own, depth, stack = np.zeros(size, np.int64), np.zeros(size, np.int64), np.empty(size, np.int64)
    out_span, out_root, count = np.empty(size, np.int64), np.empty(size, np.int64), 0
    for number in range(len(roots)):
        root = roots[number]
        first_out = count
        until[root] = cursor[root] = end[root]
        following[root], stack[0], height = begin[root + 1], root, 1
        while height > 0:
            span = stack[height - 1]
            child = -1
            while following[span] > begin[span] and child < 0:
                following[span] -= 1
                candidate = children[following[span]]
                if candidate == span or exclusion[candidate] != ACCEPTED:
                    continue
                overlap, later = end[candidate] - cursor[span], met[span]
                if overlap <= 0:
                    child = candidate
                elif later < 0:
                    if start[candidate] < cursor[span]:
                        child = candidate
                else:
                    shorter = min(end[candidate] - start[candidate], end[later] - start[later])
                    if overlap <= _SERIAL_NS and overlap * _SERIAL_PARTS <= shorter:
                        child = candidate
            to = start[span] if child < 0 else min(end[child], cursor[span])
            later = met[span]
            if later >= 0 and kind[span] == CLIENT and kind[later] == SERVER:
                wait[later] = max(0, cursor[span] - to - after[span])
            own[span] += max(0, cursor[span] - to)
            if child < 0:
                out_span[count], out_root[count] = span, number
                count += 1
                height -= 1
                continue
            until[child] = cursor[child] = to
            after[span], met[span], cursor[span] = cursor[span] - to, child, start[child]
            depth[child], following[child] = height, begin[child + 1]
            stack[height] = child
            height += 1
        # The walk leaves the last span first.
        low, high = first_out, count - 1
        while low < high:
            out_span[low], out_span[high] = out_span[high], out_span[low]
            low += 1
            high -= 1
    return out_span[:count], out_root[:count], own, depth, until, wait
