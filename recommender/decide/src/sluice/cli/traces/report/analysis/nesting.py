"""Which spans stand within another that holds the same thread or connection. The rules are those of Nesting.java."""

from __future__ import annotations

import numpy as np

from sluice.cli.traces.report.analysis.kinship import NONE, Kinship
from sluice.cli.traces.report.analysis.names import Bools, Ints, Labels
from sluice.cli.traces.report.facts.facts import CLIENT, CONSUMER, PRODUCER, SERVER
from sluice.cli.traces.report.facts.rules import COUNTED, LEFT_OUT, SIDECAR
from sluice.fast.compiled import compiled

#: Client spans that stand in each other; a deeper one is not looked for.
DEEPEST = 16


def nesting_of(labels: Labels, kinship: Kinship) -> tuple[Bools, Ints]:
    """By span: whether it is nested; and of a nested CLIENT span the outermost span, which counts for it, else -1."""
    # A span that is its own parent, or repeats the id of its parent, has nothing above it.
    parent = np.where(kinship.parent == kinship.first, NONE, kinship.parent)
    above = _above(parent, labels.service, kinship.kept)
    solid = np.isin(labels.use, (*COUNTED, LEFT_OUT))
    return _nesting(
        above,
        kinship.first,
        np.where(solid, labels.kind, -labels.kind),
        labels.instance,
        labels.named_peer,
        labels.use == SIDECAR,
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
def _nesting(above: Ints, first: Ints, kind: Ints, instance: Ints, peer: Ints, sidecar: Bools) -> tuple[Bools, Ints]:
    """kind: below 0 where rules say that the span holds no place and leaves none out. sidecar: of a
    proxy beside its application."""
    stands_in = sidecar | (instance == 0)  # of a SERVER span: it counts while no span of its application is below it
    gives_way = np.zeros(len(above), dtype=np.bool_)
    for span in range(len(above)):
        if kind[span] != SERVER or stands_in[span]:
            continue
        at = above[span]
        while at >= 0 and abs(kind[at]) != PRODUCER and abs(kind[at]) != CONSUMER:
            if kind[at] == SERVER:
                if not stands_in[at]:
                    break
                gives_way[at] = True
            at = above[at]
    nested = np.zeros(len(above), dtype=np.bool_)
    outermost = np.full(len(above), -1, dtype=np.int64)
    for span in range(len(above)):
        if kind[span] == SERVER:
            at = above[span]
            while at >= 0 and abs(kind[at]) != PRODUCER and abs(kind[at]) != CONSUMER:
                if kind[at] == SERVER and (stands_in[span] or not stands_in[at]):
                    anonymous = instance[span] == 0 or (stands_in[span] and instance[at] == 0)
                    nested[span] = anonymous or instance[at] == instance[span]
                    break
                at = above[at]
            if stands_in[span] and first[span] >= 0 and gives_way[first[span]]:
                nested[span] = True
        elif kind[span] == CLIENT and (peer[span] != 0 or sidecar[span]):
            at, met, like = above[span], 0, span
            while at >= 0 and met < DEEPEST:
                if abs(kind[at]) == PRODUCER or abs(kind[at]) == CONSUMER or abs(kind[at]) == SERVER:
                    break
                if kind[at] == CLIENT:
                    if met == 0 and sidecar[span]:
                        like = at
                    met += 1
                    if at == like or (peer[like] != 0 and peer[at] == peer[like] and instance[at] == instance[like]):
                        nested[span] = True
                        outermost[span] = at
                at = above[at]
    return nested, outermost
