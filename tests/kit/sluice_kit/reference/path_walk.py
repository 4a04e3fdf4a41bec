"""The critical path of a trace in plain Python, written from the rules and not from the Java code.

Slow and plain on purpose: spans are dicts, the walk recurses and looks through all children at each step.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sluice_kit.reference.serial import are_serial
from sluice_kit.reference.shared_ids import Ids, apart

#: span_id, parent_id ("" for none), kind ("SERVER" ...), service ("" if left out), linked, host ("" if unknown),
#: start_ns, end_ns
SpanDict = dict[str, Any]


@dataclass
class Paths:
    """`sections`: by the root's id, (span id, start ns, end ns) in order of time. `excluded`: spans by cause.

    `ways`: by the root's id, the ids of the spans that lead to each span on the path, and its own; parents before
    children, children in order of time.

    Of spans on a path: `lengths`, end less start as they are placed; `waits`, of a SERVER span that answers a CLIENT
    span: by how much the gap before it is longer than the one behind it. Both in ns.
    """

    sections: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)
    ways: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    waits: dict[str, int] = field(default_factory=dict)
    incomplete: set[str] = field(default_factory=set)
    excluded: Counter[str] = field(default_factory=Counter)


def critical_paths(spans: list[SpanDict]) -> Paths:
    """The paths of one trace. Of spans with one id that stays which starts first, then ends last; CLIENT and SERVER
    spans of one id both stay, the latter under another id (`apart_by_id`)."""
    paths = Paths()
    by_id = _by_id(apart_by_id(spans), paths.excluded)
    children: dict[str, list[SpanDict]] = {}
    for span in by_id.values():
        children.setdefault(span["parent_id"], []).append(span)
    left = set(by_id)

    def exclude(span: SpanDict, cause: str) -> None:
        below = [span]
        while below:
            child = below.pop()
            if child["span_id"] in left:
                left.remove(child["span_id"])
                paths.excluded[cause] += 1
                below += children.get(child["span_id"], [])

    def place(parent: SpanDict) -> None:
        left.remove(parent["span_id"])
        parent["kept"] = []
        for child in children.get(parent["span_id"], []):
            if child["kind"] == "CONSUMER" and parent["kind"] == "PRODUCER":
                exclude(child, "asynchronous")
            elif _fit(child, parent):
                parent["kept"].append(child)
                place(child)
            else:
                exclude(child, "outside_parent")

    for span in by_id.values():
        if span["parent_id"] == span["span_id"]:
            exclude(span, "self_parent")
        elif not span["parent_id"] and span["linked"]:
            exclude(span, "asynchronous")
        elif span["parent_id"] not in by_id:
            span |= {"from": span["start_ns"], "to": span["end_ns"], "moved": 0, "clock": span["host"]}
            span["until"] = span["to"]
            place(span)
            ways: list[tuple[str, ...]] = []
            sections = _merged(_back(span, [], (), ways, paths))
            assert sum(end - start for _, start, end in sections) == span["end_ns"] - span["start_ns"]
            paths.sections[span["span_id"]] = sections
            paths.ways[span["span_id"]] = ways[::-1]
            if span["parent_id"]:
                paths.incomplete.add(span["span_id"])
    paths.excluded["cycle"] = len(left)
    return paths


def apart_by_id(spans: list[SpanDict]) -> list[SpanDict]:
    """The spans with ids of their own for both sides of a shared one."""
    ids = apart([Ids(_id(s["span_id"]), _id(s["parent_id"]), s["kind"], s.get("service", "")) for s in spans])
    return [
        span
        if (span_id, parent_id) == (_id(span["span_id"]), _id(span["parent_id"]))
        else span | {"span_id": span_id.hex(), "parent_id": parent_id.hex()}
        for span, (span_id, parent_id) in zip(spans, ids, strict=True)
    ]


def _id(text: str) -> bytes:
    return bytes.fromhex(text.zfill(16)) if text else b""


def jaeger_spans(trace: dict[str, Any]) -> list[SpanDict]:
    """The spans of a trace in Jaeger JSON, every reference but the first CHILD_OF being a link."""
    hosts = {
        name: next((t["value"] for t in process.get("tags", []) if t["key"] == "hostname"), "")
        for name, process in trace["processes"].items()
    }
    spans = []
    for span in trace["spans"]:
        kind = next((t["value"] for t in span["tags"] if t["key"] == "span.kind"), "internal")
        parents = [r["spanID"] for r in span["references"] if r["refType"] == "CHILD_OF"]
        spans.append(
            {
                "span_id": span["spanID"],
                "parent_id": parents[0] if parents else "",
                "kind": kind.upper(),
                "service": trace["processes"][span["processID"]]["serviceName"],
                "linked": len(span["references"]) > len(parents),
                "host": hosts[span["processID"]],
                "start_ns": span["startTime"] * 1000,
                "end_ns": (span["startTime"] + span["duration"]) * 1000,
            }
        )
    return spans


def _by_id(spans: list[SpanDict], excluded: Counter[str]) -> dict[str, SpanDict]:
    by_id: dict[str, SpanDict] = {}
    for span in sorted(spans, key=lambda s: (s["start_ns"], -s["end_ns"])):
        if span["end_ns"] < span["start_ns"]:
            excluded["ends_before_start"] += 1
        elif span["span_id"] in by_id:
            excluded["duplicate_span"] += 1
        else:
            by_id[span["span_id"]] = dict(span)
    return by_id


def _fit(child: SpanDict, parent: SpanDict) -> bool:
    """Moves and clips the child; False when it lies outside."""
    child["clock"] = child["host"] or parent["clock"]
    child["moved"] = parent["moved"]
    if parent["clock"] and child["clock"] != parent["clock"]:
        child["moved"] = 0
        if (parent["kind"], child["kind"]) == ("CLIENT", "SERVER"):
            child["moved"] = _skew(child, parent["start_ns"] + parent["moved"], parent["end_ns"] + parent["moved"])
    start, end = child["start_ns"] + child["moved"], child["end_ns"] + child["moved"]
    if end < parent["from"] or start > parent["to"]:
        return False
    if start < end and parent["from"] < parent["to"] and (end == parent["from"] or start == parent["to"]):
        return False
    child["from"], child["to"] = max(start, parent["from"]), min(end, parent["to"])
    return True


def _skew(server: SpanDict, client_from: int, client_to: int) -> int:
    start: int = server["start_ns"]
    end: int = server["end_ns"]
    if client_from <= start and end <= client_to:
        return 0
    spare = (client_to - client_from) - (end - start)
    late = end - client_to
    if spare >= 0 and client_from <= start and 2 * late <= end - start:
        return -late
    if spare >= 0:
        return client_from + spare // 2 - start
    return 0 if client_from <= start < client_to else client_from - start


def _back(
    span: SpanDict,
    sections: list[tuple[str, int, int]],
    above: tuple[str, ...],
    ways: list[tuple[str, ...]],
    paths: Paths,
) -> list[tuple[str, int, int]]:
    """Appends the sections of the span and of what it waited for, and the ways to them, the latest first."""
    at = span["until"]
    waiting = list(span["kept"])
    way = (*above, span["span_id"])
    met: list[SpanDict] = []
    while finished := [child for child in waiting if _has_finished(child, at, met)]:
        child = max(finished, key=lambda c: (c["to"], c["from"], c["span_id"]))
        waiting.remove(child)
        child["until"] = min(child["to"], at)
        sections.append((span["span_id"], child["until"], at))
        _back(child, sections, way, ways, paths)
        met.append(child)
        at = child["from"]
    sections.append((span["span_id"], span["from"], at))
    ways.append(way)
    paths.lengths[span["span_id"]] = span["until"] - span["from"]
    if span["kind"] == "CLIENT":
        _waits(span, met[::-1], paths.waits)
    return sections


def _has_finished(child: SpanDict, at: int, met: list[SpanDict]) -> bool:
    """Before the call that was met last, or nearly so. A span that is cut at its end cuts what lies below it."""
    if child["to"] <= at:
        return True
    if not met:
        return bool(child["from"] < at)
    return are_serial(child["to"] - at, child["to"] - child["from"], met[-1]["to"] - met[-1]["from"])


def _waits(client: SpanDict, answers: list[SpanDict], waits: dict[str, int]) -> None:
    """`answers`: the children on the path, in order of time."""
    edges = [client["from"], *(edge for child in answers for edge in (child["from"], child["until"])), client["until"]]
    gaps = [end - start for start, end in zip(edges[::2], edges[1::2], strict=True)]
    for child, before, behind in zip(answers, gaps, gaps[1:], strict=False):
        if child["kind"] == "SERVER":
            waits[child["span_id"]] = max(0, before - behind)


def _merged(sections: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    merged: list[tuple[str, int, int]] = []
    for name, start, end in reversed(sections):
        if start == end:
            continue
        if merged and merged[-1][0] == name and merged[-1][2] == start:
            merged[-1] = (name, merged[-1][1], end)
        else:
            merged.append((name, start, end))
    return merged
