"""What the running stack lacks, with the remedy for each. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sluice.cli.traces.report.analysis.findings import QualityFinding
from sluice.cli.traces.report.analysis.pools import CandidatePool
from sluice.cli.traces.report.analysis.quality import NO_INSTANCE, NO_PEER, NO_SERVER_SPANS, ORPHANS, UNUSABLE, limited

_RULES = "see streaming-jobs/spans.toml, whose rules leave them out"
_DEAD = "read the topic otlp_dead_letter, and ./sluice doctor"
_REFUSED = "./sluice sql --recipe rejected_rows, and ./sluice doctor"


def defects_of(rows: Iterable[tuple[Any, ...]], pools: list[CandidatePool]) -> list[QualityFinding]:
    """rows: of defects.sql."""
    return [*_counted(rows), *_of_pools(pools)]


def _counted(rows: Iterable[tuple[Any, ...]]) -> Iterator[QualityFinding]:
    fragments: dict[str, int] = {}
    for kind, cause, name, number in sorted(rows):
        count = int(number)
        if kind == "fragment":
            fragments[name] = count
        elif kind == "left_out":
            remedy = "nothing: the outer spans count" if cause == "nested" else _RULES
            yield QualityFinding("LEFT_OUT", f"{cause} leaves {count:,} spans out of the pools", remedy, count)
        elif kind == "dead_letter":
            what, remedy = UNUSABLE.get(cause, (f"were refused ({cause})", _DEAD))
            service = f" of {name}" if name else ""
            yield QualityFinding(cause.upper(), f"{count:,} spans{service} {what} and count nowhere", remedy, count)
        else:
            yield QualityFinding("ROWS_REFUSED", f"{count:,} rows of {name} were refused: {cause}", _REFUSED)
    if fragments:
        text = f"the parents of {sum(fragments.values()):,} roots of {limited(sorted(fragments))} never arrived"
        yield QualityFinding("PARENT_MISSING", text, ORPHANS)


def _of_pools(pools: list[CandidatePool]) -> Iterator[QualityFinding]:
    served = {pool.id.service for pool in pools if pool.id.side == "server"}
    clients = [pool for pool in pools if pool.id.side == "client"]
    unnamed = [pool for pool in clients if pool.id.peer == "unknown"]
    if unnamed:
        names = limited(sorted(pool.id.service for pool in unnamed))
        spans = sum(pool.spans for pool in unnamed)
        yield QualityFinding("PEER_UNKNOWN", f"{spans:,} client spans of {names} name no peer", NO_PEER, spans)
    unseen = sorted({pool.id.peer for pool in clients if pool.id.peer not in served} - {"unknown"})
    if unseen:
        spans = sum(pool.spans for pool in clients if pool.id.peer in unseen)
        text = f"{spans:,} calls to {limited(unseen)} show no SERVER span of the peer in these pools"
        yield QualityFinding("SERVER_SPANS_MISSING", text, NO_SERVER_SPANS, spans)
    nameless = sorted({pool.id.service for pool in pools if "" in pool.instances})
    if nameless:
        text = f"spans of {limited(nameless)} name no instance: all its processes count as one"
        yield QualityFinding("INSTANCE_UNKNOWN", text, NO_INSTANCE)
