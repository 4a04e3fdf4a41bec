"""Builds the application that the solver works on from what the pipeline observed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sluice.model.containers import NotifiedContainer, ReportedContainers
from sluice.subsets.application import Application, Container, Host, Service
from sluice.subsets.calls import edges_of
from sluice.subsets.cut import roots
from sluice.subsets.liveness import LivenessRules
from sluice.subsets.members import Address, LiveContainers, containers, host_of, zones_of
from sluice.subsets.observed import ObservedApplication, ObservedHost
from sluice.subsets.trial import MeasuredLatency

LIVENESS = LivenessRules()


@dataclass(frozen=True)
class AssemblyRules:
    """The settings of the application, as of `Application`. wants: by upstream and downstream service."""

    wants: Callable[[str, str], bool]
    address: Address
    quota: int | None = None
    min_subset: int = 2
    percentile: float = 0.95
    keep_in_zone: bool = False
    prefer_zone: bool = False
    liveness: LivenessRules = LIVENESS


@dataclass(frozen=True)
class Assembled:
    """missing: inputs that neither spans nor sources gave, and what replaces them, as lines for people. measured: as of
    `ObservedApplication`."""

    application: Application
    missing: tuple[str, ...]
    measured: Mapping[str, MeasuredLatency] = field(default_factory=dict)


def assemble(
    observed: ObservedApplication, reported: Mapping[str, ReportedContainers], rules: AssemblyRules
) -> Assembled:
    """Builds the application. It leaves out calls to peers without containers, and self calls. `legal.check` then says
    whether the result is legal."""
    missing: list[str] = []
    there = containers(observed, reported, rules.liveness)
    known = there.keys()

    def wanted(up: str, down: str) -> bool:
        return up != down and up in known and down in known and rules.wants(up, down)

    measured_roots, pairs = roots(observed.trees, wanted, observed.window_s)
    taking_part = {name for root in measured_roots for up, down, _ in edges_of(root.tree) for name in (up, down)}
    taking_part |= {name for pair in pairs for name in (pair.upstream, pair.downstream)}
    measured_roots = [root for root in measured_roots if root.tree.service in taking_part]
    if observed.cut:
        missing.append(f"{observed.cut} traces have a call tree that is too large to keep: the solver ignores them")
    missing += _strangers(observed, known, rules)
    hosts = _hosts([container for name in taking_part for container, _ in there[name]], observed.hosts, missing)
    services = tuple(
        Service(name, tuple(_container(name, container, rules) for container, _ in there[name]))
        for name in sorted(taking_part)
    )
    missing += _unseen(there, taking_part)
    missing += _homeless(there, taking_part)
    app = Application(
        hosts,
        services,
        tuple(measured_roots),
        tuple(pairs),
        rules.quota,
        rules.min_subset,
        rules.percentile,
        rules.keep_in_zone,
        rules.prefer_zone,
    )
    return Assembled(app, tuple(missing), observed.measured)


def _container(service: str, container: NotifiedContainer, rules: AssemblyRules) -> Container:
    address = container.address or rules.address(service, container.instance, container.host)
    return Container(container.instance, host_of(container), address, container.drained, not_ready=container.not_ready)


def _hosts(
    used: Iterable[NotifiedContainer], known: Mapping[str, ObservedHost], missing: list[str]
) -> tuple[Host, ...]:
    """An unknown utilization of a host is the mean of the others, and 0 where it is unknown for all of them."""
    zones = zones_of(used)
    values: dict[str, dict[str, float]] = {}
    for kind in ("cpu", "memory_bandwidth", "network"):
        by_host = {name: value for name in zones if (value := getattr(known.get(name), kind, None)) is not None}
        mean = sum(by_host.values()) / len(by_host) if by_host else 0.0
        values[kind] = {name: by_host.get(name, mean) for name in zones}
        without = sorted(zones.keys() - by_host.keys())
        if without and by_host:
            missing.append(f"no {kind} utilization of {_some(without)}: the mean of the other hosts replaces it")
        elif without:
            missing.append(f"no {kind} utilization of any host: the solver ignores it")
    return tuple(
        Host(name, **{field: value_of[name] for field, value_of in values.items()}, zone=zones[name])
        for name in sorted(zones)
    )


def _strangers(observed: ObservedApplication, known: Iterable[str], rules: AssemblyRules) -> list[str]:
    called = {pair for tree in observed.trees for pair in [(up, down) for up, down, _ in edges_of(tree.tree)]}
    names = sorted({name for up, down in called if rules.wants(up, down) for name in (up, down)} - set(known))
    return [f"no containers of {_some(names)} in any spans: the solver leaves these services out"] if names else []


def _unseen(there: LiveContainers, taking_part: Iterable[str]) -> list[str]:
    lines = []
    for name in sorted(taking_part):
        unseen = [container.instance for container, was_seen in there[name] if not was_seen and not container.drained]
        if unseen:
            lines.append(f"{name}: a source reports {_some(unseen)}, and no spans show them yet")
    return lines


def _homeless(there: LiveContainers, taking_part: Iterable[str]) -> list[str]:
    lines = []
    for name in sorted(taking_part):
        without = [container.instance for container, _ in there[name] if not container.host and not container.drained]
        if without:
            lines.append(f"{name}: no host of {_some(without)}: each counts as alone on a host of mean utilization")
    return lines


def _some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:3])} and {len(names) - 3} more"
