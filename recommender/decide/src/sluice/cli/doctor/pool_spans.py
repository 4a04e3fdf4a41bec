"""Tables' data about the spans of a pool: concurrency by instance, operations, and spans that rules left out.

Windows have no operation names. Those of a service's own operations come from call trees, which are of complete
traces. No table has instrumentation scopes.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sluice.cli.doctor.clickhouse import ask
from sluice.cli.environment import Addresses
from sluice.model.keys import PoolKey

_SHOWN = 4
_IN_FLIGHT = """
SELECT toString(side), toString(service), toString(peer), toString(instance), max(concurrency)
FROM v_windows_10s WHERE start > now() - INTERVAL 3 MINUTE GROUP BY ALL
"""
_LEFT_OUT = """
SELECT toString(side), toString(service), toString(peer), toString(operation), toString(rule), sum(spans)
FROM v_spans_left_out_between(
    from_ms = toUnixTimestamp64Milli(now64(3)) - 180000, until_ms = toUnixTimestamp64Milli(now64(3)) + 60000)
GROUP BY ALL
"""
_TREES = """
SELECT tree, sum(traces) AS n FROM call_trees FINAL WHERE window > now() - INTERVAL 3 MINUTE
GROUP BY tree ORDER BY n DESC, tree LIMIT 500
"""


@dataclass(frozen=True)
class PoolSpans:
    """The last three minutes. in_flight: the highest mean of 10 s, by instance. operations: calls of the service by
    name; none for a client pool, since no table has its spans' names. left_out: spans by name and rule."""

    in_flight: Mapping[str, float] = field(default_factory=dict)
    operations: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def text(self, sizes: Mapping[str, int]) -> str:
        """sizes: sizes in force, by the instance name that an actuator reports."""
        parts = []
        if self.in_flight:
            shown = [
                f"{instance or '(no instance)'} {most:.0f}" + (f" of {sizes[instance]}" if instance in sizes else "")
                for instance, most in _most(self.in_flight)
            ]
            parts.append(f"in flight over 10 s at most: {', '.join(shown)}{_more(self.in_flight)}")
        if sizes and self.in_flight and len(sizes) != len(self.in_flight):
            parts.append(f"spans are of {_count(self.in_flight, 'instance')}, sizes of {_count(sizes, 'target')}")
        if self.operations:
            calls = sum(self.operations.values())
            shown = [f"{name} {count / calls:.0%}" for name, count in _most(self.operations)]
            parts.append(f"its operations: {', '.join(shown)}{_more(self.operations)}")
        if self.left_out:
            shown = [f"{name or '(any)'} {count:,} ({rule})" for (name, rule), count in _most(self.left_out)]
            parts.append(f"left out already: {', '.join(shown)}{_more(self.left_out)}")
        return "; ".join(parts)


def pool_spans(where: Addresses, timeout_s: float, pools: Iterable[PoolKey]) -> dict[PoolKey, PoolSpans]:
    """Raises NotAnsweringError."""
    by_pool = {key: PoolSpans() for key in pools}
    for side, service, peer, instance, most in ask(where, timeout_s, _IN_FLIGHT):
        if (key := PoolKey(service, side, peer)) in by_pool:
            by_pool[key] = replace(by_pool[key], in_flight={**by_pool[key].in_flight, instance: float(most)})
    for side, service, peer, operation, rule, spans in ask(where, timeout_s, _LEFT_OUT):
        if (key := PoolKey(service, side, peer)) in by_pool:
            more = {**by_pool[key].left_out, (operation, rule): int(spans)}
            by_pool[key] = replace(by_pool[key], left_out=more)
    if any(key.side != "client" for key in by_pool):
        calls = operations_of([(str(tree), int(traces)) for tree, traces in ask(where, timeout_s, _TREES)])
        for key in by_pool:
            if key.side != "client":
                by_pool[key] = replace(by_pool[key], operations=calls.get(key.service, {}))
    return by_pool


def instances_in_spans(where: Addresses, timeout_s: float, pools: Iterable[PoolKey]) -> dict[PoolKey, list[str]]:
    """The instances in spans of the last three minutes, ordered by name. Raises NotAnsweringError."""
    instances: dict[PoolKey, list[str]] = {key: [] for key in pools}
    for side, service, peer, instance, _ in ask(where, timeout_s, _IN_FLIGHT) if instances else ():
        if (key := PoolKey(service, side, peer)) in instances:
            instances[key].append(instance)
    return {key: sorted(names) for key, names in instances.items()}


def operations_of(trees: Iterable[tuple[str, int]]) -> dict[str, dict[str, int]]:
    """How often traces called an operation, by service and operation. trees: JSON as the job writes it, and number of
    traces. A tree too deep for the JSON parser is left out."""
    calls: dict[str, Counter[str]] = {}
    for text, traces in trees:
        try:
            open_nodes: list[dict[str, Any]] = [json.loads(text)]
        except RecursionError:
            continue
        while open_nodes:
            node = open_nodes.pop()
            if "service" in node:
                calls.setdefault(node["service"], Counter())[node.get("operation", "")] += traces
            open_nodes += [call for stage in node.get("stages", ()) for call in stage]
    return {service: dict(operations) for service, operations in calls.items()}


def _most(counts: Mapping[Any, Any]) -> Sequence[tuple[Any, Any]]:
    return sorted(counts.items(), key=lambda operation: (-operation[1], str(operation[0])))[:_SHOWN]


def _more(counts: Mapping[Any, Any]) -> str:
    return f" and {len(counts) - _SHOWN} more" if len(counts) > _SHOWN else ""


def _count(counts: Mapping[Any, Any], what: str) -> str:
    return f"{len(counts)} {what}" + ("s" if len(counts) != 1 else "")
