"""What the recording lacks, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sluice.cli.traces.report.analysis.findings import QualityFinding
from sluice.cli.traces.report.analysis.names import Bools
from sluice.cli.traces.report.analysis.sampling import sampling_of
from sluice.cli.traces.report.analysis.traces import Traces
from sluice.cli.traces.report.analysis.walk import ASYNCHRONOUS, CYCLE, OUTSIDE_PARENT, SELF_PARENT
from sluice.cli.traces.report.facts.facts import CLIENT, SERVER, SIDES
from sluice.cli.traces.report.facts.rules import COUNTED, HELD

#: Names in a finding; the rest is counted.
_SHOWN = 5
#: Remedies that the report of the running stack has, too.
NO_PEER = "set peer.service or server.address on these client spans"
NO_SERVER_SPANS = "instrument these peers if they are services of yours; databases and foreign services need nothing"
NO_INSTANCE = "set the resource attribute service.instance.id or host.name"
ORPHANS = "record whole traces: all services, from before the first request to after the last; keep no part of one"
_UPDATE = "update the library that sends them"
_ON_NO_PATH = {
    SELF_PARENT: ("their own parents, or below such a span", _UPDATE),
    ASYNCHRONOUS: ("asynchronous", "nothing: their callers do not wait for them"),
    OUTSIDE_PARENT: (
        "outside their parents' time, or below such a span",
        "nothing where the caller does not wait; else end a span after those that it waits for, and keep clocks by NTP",
    ),
    CYCLE: ("in rings of parents", _UPDATE),
}


def quality_of(traces: Traces, unusable: Mapping[str, int]) -> list[QualityFinding]:
    """Findings in a fixed order. unusable: spans that count nowhere, by reason."""
    return [
        *sampling_of(traces),
        *_unusable(unusable),
        *_repeats(traces),
        *_orphans(traces),
        *_unknown_peers(traces),
        *_unseen_peers(traces),
        *_without_server_spans(traces),
        *_without_instance(traces),
        *_clocks(traces),
        *_left_out(traces),
        *_on_no_path(traces),
    ]


UNUSABLE = {
    "missing_service": ("have no service.name", "set OTEL_SERVICE_NAME for the process that sends them"),
    "bad_id": ("have an id of zeros", "update the library that sends them: W3C Trace Context forbids such ids"),
    "clock_out_of_range": ("have a time of 0, or after 2262", "update the library that sends them"),
    "ends_before_start": (
        "end before they start",
        "update the library that sends them: a clock was set back meanwhile",
    ),
}


def _unusable(counts: Mapping[str, int]) -> Iterator[QualityFinding]:
    for reason, (what, remedy) in UNUSABLE.items():
        if number := counts.get(reason, 0):
            yield QualityFinding(reason.upper(), f"{number:,} spans {what} and count nowhere", remedy, number)


def _repeats(traces: Traces) -> Iterator[QualityFinding]:
    if number := int(np.count_nonzero(~traces.kinship.kept)):
        text = f"{number:,} spans repeat an id of their trace: windows count them, paths do not"
        yield QualityFinding("REPEATED_ID", text, "look for files that overlap, and exporters that send twice", number)


def _orphans(traces: Traces) -> Iterator[QualityFinding]:
    incomplete = traces.paths.incomplete
    if number := int(np.count_nonzero(incomplete)):
        text = f"the parents of {number:,} spans are missing: {number:,} of {len(incomplete):,} paths are incomplete"
        yield QualityFinding("PARENT_MISSING", text, ORPHANS, number)


def _unknown_peers(traces: Traces) -> Iterator[QualityFinding]:
    unknown = traces.holds & (traces.peer == traces.labels.names.number("unknown"))
    if number := int(np.count_nonzero(unknown)):
        text = (
            f"{number:,} client spans of {_services(traces, unknown)} name no peer: their connections are in one pool"
        )
        yield QualityFinding("PEER_UNKNOWN", text, NO_PEER, number)


def _unseen_peers(traces: Traces) -> Iterator[QualityFinding]:
    """Peers without spans of their own: databases, and services that nobody traces."""
    calls = traces.holds & (traces.labels.kind == CLIENT) & ~traces.answered
    calls &= traces.peer != traces.labels.names.number("unknown")
    if number := int(np.count_nonzero(calls)):
        names = [traces.labels.names.texts[peer] for peer in np.unique(traces.peer[calls])]
        text = f"{number:,} calls to {limited(sorted(names))} show no SERVER span of the peer"
        yield QualityFinding("SERVER_SPANS_MISSING", text, NO_SERVER_SPANS, number)


def _without_server_spans(traces: Traces) -> Iterator[QualityFinding]:
    """Services that send spans, none of which holds a place of a pool."""
    labels = traces.labels
    on_a_side = np.isin(labels.kind, list(SIDES))
    sends, served = np.unique(labels.service), np.unique(labels.service[on_a_side])
    if missing := sorted(labels.names.texts[service] for service in np.setdiff1d(sends, served)):
        text = f"{limited(missing)} send only INTERNAL spans, so they have no pool"
        yield QualityFinding(
            "KIND_MISSING", text, "set the span kind (span.kind in Jaeger's tags) to server and client"
        )


def _without_instance(traces: Traces) -> Iterator[QualityFinding]:
    nameless = traces.holds & (traces.labels.instance == 0)
    if number := int(np.count_nonzero(nameless)):
        text = f"{number:,} spans of {_services(traces, nameless)} name no instance: all its processes count as one"
        yield QualityFinding("INSTANCE_UNKNOWN", text, NO_INSTANCE, number)


def _clocks(traces: Traces) -> Iterator[QualityFinding]:
    # What goes back by half of its length at most may only have ended after its response.
    ended_late = (traces.moved_ns < 0) & (-2 * traces.moved_ns <= traces.spans.end_ns - traces.spans.start_ns)
    moved = traces.kinship.kept & (traces.moved_ns != 0) & ~ended_late & (traces.labels.kind == SERVER)
    if number := int(np.count_nonzero(moved)):
        most_ms = float(np.abs(traces.moved_ns[moved]).max()) / 1e6
        where = f"outside their callers' spans, by up to {most_ms:,.1f} ms"
        text = f"{number:,} SERVER spans of {_services(traces, moved)} lie {where}"
        remedy = "let NTP keep the clocks of these hosts. Paths are corrected; windows keep the recorded times"
        yield QualityFinding("CLOCK_SKEW", text, remedy, number)


def _left_out(traces: Traces) -> Iterator[QualityFinding]:
    ruled = (traces.labels.use != HELD) & np.isin(traces.labels.kind, list(SIDES))
    counted = np.isin(traces.labels.use, COUNTED)
    for rule, number in sorted(_by_rule(traces, ruled & ~counted).items()):
        text = f"the span rule {rule} leaves {number:,} spans out of the pools"
        yield QualityFinding("LEFT_OUT", text, "see spans.toml; name another file with --span-rules", number)
    for rule, number in sorted(_by_rule(traces, ruled & counted & ~traces.nested).items()):
        services = _services(traces, ruled & counted & ~traces.nested)
        text = f"by the span rule {rule}, {number:,} spans of {services} hold no thread of a pool"
        remedy = "size these pools only if something limits them; else see spans.toml"
        yield QualityFinding("NOT_A_POOL", text, remedy, number)
    nested = traces.nested & counted
    if number := int(np.count_nonzero(nested)):
        text = f"{number:,} spans stand within another span that holds the same thread or connection"
        yield QualityFinding("NESTED", text, "nothing: the outer spans count", number)


def _by_rule(traces: Traces, which: Bools) -> dict[str, int]:
    """How many spans a rule decided, by its name."""
    by_rule: dict[str, int] = {}
    for facts, number in zip(*np.unique(traces.spans.facts[which], return_counts=True), strict=True):
        rule = traces.spans.facts_of[facts].rule
        by_rule[rule] = by_rule.get(rule, 0) + int(number)
    return by_rule


def _on_no_path(traces: Traces) -> Iterator[QualityFinding]:
    for exclusion, (what, remedy) in _ON_NO_PATH.items():
        if number := int(np.count_nonzero(traces.exclusion == exclusion)):
            yield QualityFinding("ON_NO_PATH", f"{number:,} spans are on no critical path: {what}", remedy, number)


def _services(traces: Traces, which: Bools) -> str:
    return limited(sorted(traces.labels.names.texts[number] for number in np.unique(traces.labels.service[which])))


def limited(names: list[str]) -> str:
    rest = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + rest
