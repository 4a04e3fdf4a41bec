"""Whom a client span called: the service that its trace shows, where its attributes name none outright."""

from __future__ import annotations

import numpy as np

from sluice.cli.traces.report.analysis.family import NONE, Family
from sluice.cli.traces.report.analysis.names import Bools, Ints, Labels
from sluice.cli.traces.report.facts.facts import CLIENT, PRODUCER, SERVER
from sluice.cli.traces.report.reading.columns import Spans

UNKNOWN = "unknown"


def peers_of(spans: Spans, labels: Labels, family: Family, outermost: Ints) -> tuple[Ints, Bools]:
    """By span: the number of its peer's name, 0 unless it is a client's; and whether its trace shows the callee."""
    asks = (labels.kind == CLIENT) | (labels.kind == PRODUCER)
    callee = _callees(spans, labels, family)
    shown = np.where(family.first != NONE, callee[family.first], NONE)
    inner = _inner(spans, family, outermost, shown)
    through = np.where(family.first != NONE, inner[family.first], NONE)
    served = np.where(shown != NONE, shown, np.where(through != NONE, shown[through], NONE))
    named = np.where(labels.named_peer != 0, labels.named_peer, labels.names.number(UNKNOWN))
    peer = np.where(labels.explicit | (served == NONE), named, labels.service[served])
    return np.where(asks, peer, 0), asks & (served != NONE)


def _callees(spans: Spans, labels: Labels, family: Family) -> Ints:
    """By span: of the SERVER spans below it the one that starts first; NONE without one."""
    below = np.flatnonzero(family.kept & (family.parent != NONE) & (labels.kind == SERVER))
    return _earliest(len(spans), family.parent[below], below, spans, family)


def _inner(spans: Spans, family: Family, outermost: Ints, shown: Ints) -> Ints:
    """By outermost client span: the first of those nested in it whose callee is seen; NONE without one."""
    nested = np.flatnonzero((outermost != NONE) & (shown != NONE))
    return _earliest(len(spans), outermost[nested], nested, spans, family)


def _earliest(size: int, key: Ints, of: Ints, spans: Spans, family: Family) -> Ints:
    best = np.full(size, NONE, dtype=np.int64)
    # The last write stays.
    order = np.lexsort((family.span_id[of], spans.start_ns[of]))[::-1]
    best[key[order]] = of[order]
    return best
