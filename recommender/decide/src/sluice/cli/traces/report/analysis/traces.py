"""All that the report computes of spans once: the columns that the tables are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.cli.traces.report.analysis.blame import parts_of
from sluice.cli.traces.report.analysis.kinship import NONE, Kinship, kinship_of
from sluice.cli.traces.report.analysis.names import Bools, Ints, Labels, labels_of
from sluice.cli.traces.report.analysis.nesting import nesting_of
from sluice.cli.traces.report.analysis.peers import peers_of
from sluice.cli.traces.report.analysis.walk import ACCEPTED, place, walk
from sluice.cli.traces.report.facts.facts import SIDES
from sluice.cli.traces.report.facts.rules import COUNTED
from sluice.cli.traces.report.reading.columns import Spans


@dataclass(frozen=True)
class Paths:
    """Critical paths. By path: its root span, and whether the root's parent is missing. By part, those of one path
    together and in the order in which the path reaches them: number of the path, service, and own time, wait for its
    threads and blame, ns."""

    root: Ints
    incomplete: Bools
    part_path: Ints
    part_service: Ints
    own_ns: Ints
    wait_ns: Ints
    blame_ns: Ints


@dataclass(frozen=True)
class Traces:
    """By span: holds: whether it holds a place in a pool; nested: whether an outer span of its kind does; peer: number
    of the peer's name, 0 unless a client's; answered: whether its trace shows the callee; moved_ns: correction for the
    clock of its host; exclusion: why it is on no path (see `walk`)."""

    spans: Spans
    labels: Labels
    kinship: Kinship
    holds: Bools
    nested: Bools
    peer: Ints
    answered: Bools
    moved_ns: Ints
    exclusion: Ints
    paths: Paths


def traces_of(spans: Spans) -> Traces:
    """Of usable spans, in any number."""
    labels = labels_of(spans)
    kinship = kinship_of(spans, labels)
    nested, outermost = nesting_of(labels, kinship)
    peer, answered = peers_of(spans, labels, kinship, outermost)
    on_a_side = np.isin(labels.kind, list(SIDES))
    holds = on_a_side & np.isin(labels.use, COUNTED) & ~nested
    moved, exclusion, paths = _paths(spans, labels, kinship)
    return Traces(spans, labels, kinship, holds, nested, peer, answered, moved, exclusion, paths)


def _paths(spans: Spans, labels: Labels, kinship: Kinship) -> tuple[Ints, Ints, Paths]:
    is_self = kinship.parent == np.arange(len(spans))
    roots = np.flatnonzero(kinship.kept & ((kinship.parent == NONE) | is_self))
    linked = spans.linked & ~kinship.has_parent_id
    tree = (kinship.children, kinship.begin)
    start, end, moved, exclusion = place(roots, *tree, spans.start_ns, spans.end_ns, labels.kind, labels.host, linked)
    walked = roots[exclusion[roots] == ACCEPTED]
    children = kinship.children
    siblings = children[
        np.lexsort((kinship.span_id[children], start[children], end[children], kinship.parent[children]))
    ]
    placed = (start, end, exclusion)
    on, root, own, depth, until, wait = walk(walked, (siblings, kinship.begin), placed, labels.kind)
    parts = parts_of(root, labels.service[on], own[on], depth[on], until[on] - start[on], wait[on])
    return moved, np.where(kinship.kept, exclusion, ACCEPTED), Paths(walked, kinship.has_parent_id[walked], *parts)
