"""`call_trees`: what the roots of traces waited for, as services in serial and parallel stages, per 10 s.

A tree is written (service, operation, stages), each stage sorted: which of two parallel calls is first says nothing.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sluice_kit.reference.serial import are_serial
from sluice_kit.reference.spans import MS, Span
from sluice_kit.reference.traces import Trace

WINDOW_NS = 10_000 * MS

#: root service, root operation, start of the window in s, tree
Key = tuple[str, str, int, str]


@dataclass
class Tree:
    traces: int = 0


@dataclass
class Node:
    """A service that was entered, or a peer that shows nothing of itself, and the time that its call took."""

    service: str
    operation: str
    start_ns: int
    end_ns: int
    calls: list["Node"] = field(default_factory=list)

    def written(self) -> Any:
        stages: list[list[Node]] = []
        began = -1
        for call in sorted(self.calls, key=lambda c: (c.start_ns, c.end_ns)):
            if not stages or (call.start_ns > began and all(call.follows(other) for other in stages[-1])):
                stages.append([])
            began = call.start_ns
            stages[-1].append(call)
        written = [sorted((call.written() for call in stage), key=json.dumps) for stage in stages]
        return [self.service, self.operation, written]

    def follows(self, other: "Node") -> bool:
        lengths = self.end_ns - self.start_ns, other.end_ns - other.start_ns
        return are_serial(other.end_ns - self.start_ns, *lengths)


def trees(traces: Iterable[Trace]) -> dict[Key, Tree]:
    table: dict[Key, Tree] = {}
    for trace in traces:
        for root in trace.spans.values():
            if not root.parent_id and not root.linked:
                node = Node(root.service, root.operation, root.start_ns, root.end_ns)
                _fill(node, root, trace)
                window_s = root.shown_ns // WINDOW_NS * 10
                key = (root.service, root.operation, window_s, json.dumps(node.written()))
                table.setdefault(key, Tree()).traces += 1
    return table


def plain(text: str) -> str:
    """A tree of the table, written as those of the reference."""

    def written(node: dict[str, Any]) -> Any:
        stages = [sorted(map(written, stage), key=json.dumps) for stage in node.get("stages", [])]
        return [node["service"], node.get("operation", ""), stages]

    return json.dumps(written(json.loads(text)))


def _fill(node: Node, span: Span, trace: Trace) -> bool:
    """Adds the calls of a span, and of those below it in its service; whether any service was entered there."""
    entered = False
    for child in trace.children(span):
        if child.kind == "CONSUMER":
            entered = True  # nobody waits for it, but it shows who was called
        elif child.service != span.service or (child.kind, span.kind) == ("SERVER", "CLIENT"):
            timed = span if span.kind == "CLIENT" else child
            call = Node(child.service, child.operation, timed.start_ns, timed.end_ns)
            _fill(call, child, trace)
            node.calls.append(call)
            entered = True
        else:
            entered = _fill(node, child, trace) or entered
    if span.kind == "CLIENT" and span.named_peer and not entered:
        node.calls.append(Node(span.named_peer, "", span.start_ns, span.end_ns))
        entered = True
    return entered
