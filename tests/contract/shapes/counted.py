"""What windows count of a message: by the reference, which the stack's tables equal, and by `sluice report`."""

from collections import Counter
from typing import Any

import numpy as np
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from contract.shapes.otlp import BASE_NS, MS
from sluice.cli.traces.report.analysis.traces import Traces, traces_of
from sluice.cli.traces.report.analysis.usable import usable
from sluice.cli.traces.report.facts.rules import read_rules
from sluice.cli.traces.report.reading.columns import Columns
from sluice.cli.traces.report.reading.memory import Memory
from sluice.cli.traces.report.reading.protobuf import add_resource_spans
from sluice.pools.roles.span_roles import roles_of
from sluice_kit.reference.rules import FILE
from sluice_kit.reference.spans import Record
from sluice_kit.reference.truth import Reference


class Counted:
    """Of one message. pools: completions and busy ms by "service@instance side peer". left_out: spans by rule.
    threadless: the sides and peers that are no pool unless somebody reports a size."""

    def __init__(self, message: bytes) -> None:
        reference = Reference([Record(message, BASE_NS // MS + 20 * 3_600_000)])
        sums: dict[tuple[str, ...], Counter[str]] = {}
        for (side, service, peer, instance, _), row in reference.windows().items():
            sums.setdefault((service, instance, side, peer), Counter()).update(
                completions=row["completions"], busy_ns=row["busy_ns"]
            )
        self.pools = {_name(*key): (row["completions"], row["busy_ns"] / MS) for key, row in sums.items()}
        rows = reference.spans_left_out()
        counted: Counter[tuple[str, ...]] = Counter()
        for (service, _, side, peer), row in sums.items():
            counted[side, service, peer, "", ""] += row["completions"]
        ruled: Counter[tuple[str, ...]] = Counter(counted)
        for (side, service, peer, _, action, rule, _), row in rows.items():
            ruled[side, service, peer, action, rule] += row["spans"]
        roles = roles_of((*key, spans) for key, spans in ruled.items())  # type: ignore[misc]
        self.left_out = dict(sum((Counter(of.left_out) for of in roles.values()), Counter()))
        self.threadless = {str(key): dict(of.threadless) for key, of in roles.items() if of.threadless_share >= 0.5}
        assert _of_report(message) == self.pools


def _of_report(message: bytes) -> dict[str, tuple[int, float]]:
    columns = Columns()
    add_resource_spans(Memory(columns, read_rules(FILE)), TracesData.FromString(message).resource_spans)
    traces = traces_of(usable(columns.spans())[0])
    sums: dict[str, tuple[int, float]] = {}
    for span in np.flatnonzero(traces.holds):
        name = _name(*_names(traces, int(span)))
        count, busy_ms = sums.get(name, (0, 0.0))
        busy_ns = min(600_000 * MS, int(traces.spans.end_ns[span] - traces.spans.start_ns[span]))
        sums[name] = count + 1, busy_ms + busy_ns / MS
    return sums


def _names(traces: Traces, span: int) -> tuple[str, ...]:
    texts, labels = traces.labels.names.texts, traces.labels
    side = {2: "server", 5: "consumer"}.get(int(labels.kind[span]), "client")
    peer = texts[traces.peer[span]] if side == "client" else ""
    return texts[labels.service[span]], texts[labels.instance[span]], side, peer


def _name(*words: Any) -> str:
    service, instance, side, peer = words
    return " ".join(filter(None, (f"{service}@{instance}", side, peer)))
