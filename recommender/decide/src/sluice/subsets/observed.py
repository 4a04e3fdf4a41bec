"""What the pipeline observed of an application: the input of `assemble`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sluice.subsets.application import Call
from sluice.subsets.trial import MeasuredLatency


@dataclass(frozen=True)
class ObservedContainer:
    """From SERVER and CONSUMER spans. first_s, last_s: Unix time, the start of its first window and the end of its last
    one."""

    service: str
    instance: str
    host: str
    requests: int
    first_s: int
    last_s: int


@dataclass(frozen=True)
class ObservedCalls:
    """The calls of one container, `instance` of the upstream service, to one of the downstream service, in the window
    that starts at start_s (Unix time)."""

    upstream: str
    instance: str
    downstream: str
    container: str
    start_s: int
    calls: int


@dataclass(frozen=True)
class ObservedTree:
    """A call tree of a root operation, and the number of traces that have this tree."""

    operation: str
    tree: Call
    traces: int


@dataclass(frozen=True)
class ObservedHost:
    """Utilizations are ratios, 0 to 1; None where no metric gives one."""

    cpu: float | None = None
    memory_bandwidth: float | None = None
    network: float | None = None


@dataclass(frozen=True)
class ObservedApplication:
    """Observations of the window_s seconds before newest_s, the end of the newest window of all. cut: traces with a
    tree that could not be read. measured: by service, the latency of its requests in the newest minute. calls:
    between containers, in the newest two minutes."""

    containers: tuple[ObservedContainer, ...] = ()
    trees: tuple[ObservedTree, ...] = ()
    hosts: Mapping[str, ObservedHost] = field(default_factory=dict)
    window_s: float = 300.0
    newest_s: int = 0
    cut: int = 0
    measured: Mapping[str, MeasuredLatency] = field(default_factory=dict)
    calls: tuple[ObservedCalls, ...] = ()
