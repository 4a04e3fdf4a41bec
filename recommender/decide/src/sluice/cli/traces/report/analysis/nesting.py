"""Which spans stand within another that holds the same thread or connection. The rules are those of Nesting.java."""

from __future__ import annotations

import numpy as np

from sluice.cli.traces.report.analysis.kinship import NONE, Kinship
from sluice.cli.traces.report.analysis.names import Bools, Ints, Labels
from sluice.cli.traces.report.facts.facts import CLIENT, CONSUMER, PRODUCER, SERVER
from sluice.cli.traces.report.facts.rules import HELD, LEFT_OUT
from sluice.fast.compiled import compiled

#: Client spans that stand in each other; a deeper one is not looked for.
DEEPEST = 16


def nesting_of(labels: Labels, kinship: Kinship) -> tuple[Bools, Ints]:
    """By span: whether it is nested; and of a nested CLIENT span the outermost span, which counts for it, else -1."""
    # A span that is its own parent, or repeats the id of its parent, has nothing above it.
    parent = np.where(kinship.parent == kinship.first, NONE, kinship.parent)
    above = _above(parent, labels.service, kinship.kept)
    solid = (labels.use == HELD) | (labels.use == LEFT_OUT)
    return _nesting(
        np.arange(len(above)),
        above,
        kinship.first,
        np.where(solid, labels.kind, -labels.kind),
        labels.instance,
        labels.named_peer,
    )


@compiled
def _above(parent: Ints, service: Ints, kept: Bools) -> Ints:
    """By span: its parent of the same service; -1 without one, and for a span in a ring of such parents."""
    above = np.full(len(parent), -1, dtype=np.int64)
    for span in range(len(parent)):
        if parent[span] >= 0 and service[parent[span]] == service[span]:
            above[span] = parent[span]
    state = np.zeros(len(parent), dtype=np.int8)  # 1: on the present way up, 2: done
    ring = np.zeros(len(parent), dtype=np.bool_)
    for span in range(len(parent)):
        at = span
        while at >= 0 and state[at] == 0:
            state[at] = 1
            at = above[at]
        if at >= 0 and state[at] == 1:
            start = at
            while True:
                ring[at] = True
                at = above[at]
                if at == start:
                    break
        at = span
        while at >= 0 and state[at] == 1:
            state[at] = 2
            at = above[at]
    for span in range(len(parent)):
        if ring[span] and kept[span]:
            above[span] = -1
    return above


@compiled
def _nesting(spans: Ints, above: Ints, first: Ints, kind: Ints, instance: Ints, peer: Ints) -> tuple[Bools, Ints]:
    """kind: below 0 where rules say that the span holds no place and leaves none out."""
    gives_way = np.zeros(len(spans), dtype=np.bool_)
    for span in spans:
        if kind[span] != SERVER or instance[span] == 0:
            continue
        at = above[span]
        while at >= 0 and abs(kind[at]) != PRODUCER and abs(kind[at]) != CONSUMER:
            if kind[at] == SERVER:
                if instance[at] != 0:
                    break
                gives_way[at] = True
            at = above[at]
    nested = np.zeros(len(spans), dtype=np.bool_)
    outermost = np.full(len(spans), -1, dtype=np.int64)
    for span in spans:
        if kind[span] == SERVER:
            at, seen = above[span], False
            while at >= 0 and abs(kind[at]) != PRODUCER and abs(kind[at]) != CONSUMER:
                if kind[at] == SERVER and (instance[span] == 0 or instance[at] != 0):
                    seen = True
                    nested[span] = instance[span] == 0 or instance[at] == instance[span]
                    break
                at = above[at]
            if not seen and instance[span] == 0 and first[span] >= 0 and gives_way[first[span]]:
                nested[span] = True
        elif kind[span] == CLIENT and peer[span] != 0:
            at, met = above[span], 0
            while at >= 0 and met < DEEPEST:
                if abs(kind[at]) == PRODUCER or abs(kind[at]) == CONSUMER or abs(kind[at]) == SERVER:
                    break
                if kind[at] == CLIENT:
                    met += 1
                    if peer[at] == peer[span] and instance[at] == instance[span]:
                        nested[span] = True
                        outermost[span] = at
                at = above[at]
    return nested, outermost
