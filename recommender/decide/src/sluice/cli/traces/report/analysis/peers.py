"""Whom a client span called: the service that its trace shows, where its attributes name none outright."""

from __future__ import annotations

import numpy as np

from sluice.cli.traces.report.analysis.kinship import NONE, Kinship
from sluice.cli.traces.report.analysis.names import Bools, Ints, Labels
from sluice.cli.traces.report.facts.facts import CLIENT, PRODUCER, SERVER
from sluice.cli.traces.report.reading.columns import Spans

UNKNOWN = "unknown"


def peers_of(spans: Spans, labels: Labels, kinship: Kinship, outermost: Ints) -> tuple[Ints, Bools]:
    """By span: the number of its peer's name, 0 unless it is a client's; and whether its trace shows the callee."""
    asks = (labels.kind == CLIENT) | (labels.kind == PRODUCER)
    callee = _callees(spans, labels, kinship)
    shown = np.where(kinship.first != NONE, callee[kinship.first], NONE)
    inner = _inner(spans, kinship, outermost, shown)
    through = np.where(kinship.first != NONE, inner[kinship.first], NONE)
    served = np.where(shown != NONE, shown, np.where(through != NONE, shown[through], NONE))
    named = np.where(labels.named_peer != 0, labels.named_peer, labels.names.number(UNKNOWN))
    peer = np.where(labels.explicit | (served == NONE), named, labels.service[served])
    return np.where(asks, peer, 0), asks & (served != NONE)


def _callees(spans: Spans, labels: Labels, kinship: Kinship) -> Ints:
    """By span: of the SERVER spans below it the one that starts first; NONE without one."""
    below = np.flatnonzero(kinship.kept & (kinship.parent != NONE) & (labels.kind == SERVER))
    return _earliest(len(spans), kinship.parent[below], below, spans, kinship)


def _inner(spans: Spans, kinship: Kinship, outermost: Ints, shown: Ints) -> Ints:
    """By outermost client span: the first of those nested in it whose callee is seen; NONE without one."""
    nested = np.flatnonzero((outermost != NONE) & (shown != NONE))
    return _earliest(len(spans), outermost[nested], nested, spans, kinship)


def _earliest(size: int, key: Ints, of: Ints, spans: Spans, kinship: Kinship) -> Ints:
    best = np.full(size, NONE, dtype=np.int64)
    # The last write stays.
    order = np.lexsort((kinship.span_id[of], spans.start_ns[of]))[::-1]
    best[key[order]] = of[order]
    return best
