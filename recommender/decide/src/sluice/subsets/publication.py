"""The publications of a solution: subsets with revisions, and the containers that they name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sluice.common.v1.decision_pb2 import Reason
from sluice.model.keys import SubsetKey
from sluice.model.times import timestamp
from sluice.subsets.application import Application, Container, Service
from sluice.subsets.churn import NamedConnections
from sluice.subsets.latency.boosted import BoostedLatency
from sluice.subsets.members import Member, Members
from sluice.subsets.membership import ConnectionLimits, follow
from sluice.subsets.names import key_of, message_of
from sluice.subsets.records import Subsets
from sluice.subsets.state import SubsetState
from sluice.subsets.v1 import log_pb2, subset_pb2

#: The mean weight of an upstream container's endpoints, rounded. Weights that change by less than CLOSE, relative to
#: the published ones, stay.
MEAN_WEIGHT, CLOSE = 100, 0.03

#: The most problems of an application that each subset names.
MOST_REASONS = 5


def of_state(
    state: SubsetState, application: Application, published: Subsets, now_ms: int
) -> Iterator[subset_pb2.Subset]:
    """The subsets of a solution that differ from the published ones, and the ends of those that it no longer has."""
    services = {service.name: service for service in application.services}
    zones = {host.name: host.zone for host in application.hosts}
    solution, problem = state.solved.solution, state.solved.problem
    there: set[SubsetKey] = set()
    for pair, subsets in zip(problem.pairs, solution.subsets, strict=True):
        up, down = problem.fleets[pair.upstream], problem.fleets[pair.downstream]
        below = {container.name: container for container in services[down.service].containers}
        learnt = isinstance(state.model.of(down.service), BoostedLatency)
        pace = state.paces.get(down.service)
        back = pace.reverted if pace is not None else ""
        for number, instance in enumerate(up.names):
            start, end = int(subsets.start[number]), int(subsets.start[number + 1])
            ends = [below[down.names[to]] for to in subsets.to[start:end]]
            key = SubsetKey(up.service, instance, down.service)
            there.add(key)
            subset = subset_pb2.Subset(
                key=message_of(key),
                state=subset_pb2.STATE_PROVIDED if learnt else subset_pb2.STATE_LEARNING,
                endpoints=_endpoints(ends, subsets.share[start:end].tolist(), zones, published.get(key)),
                reasons=list(_reasons(down.service, ends, learnt, back)),
                strategy=solution.strategy,
                computed_at=timestamp(now_ms),
            )
            yield from _if_new(subset, published.get(key))
    for key in published.keys() - there:
        yield from ended(published[key], now_ms)


def followed(
    published: Subsets, members: Members, bounds: ConnectionLimits, problems: Sequence[str], now_ms: int
) -> Iterator[subset_pb2.Subset]:
    """The published subsets, adapted to the live containers. With `problems`, they are held and name the
    problems."""
    there = {key: subset for key, subset in published.items() if subset.state != subset_pb2.STATE_DELETED}
    previous: dict[tuple[str, str], dict[str, dict[str, int]]] = {}
    some: dict[tuple[str, str], subset_pb2.Subset] = {}
    for key, published_subset in there.items():
        pair = key.upstream, key.downstream
        previous.setdefault(pair, {})[key.instance] = {end.instance: end.weight for end in published_subset.endpoints}
        some.setdefault(pair, published_subset)
    after = follow(previous, members, bounds)
    for pair, subsets in after.items():
        up, down = pair
        known = {member.instance: member for member in members.get(down, ())}
        for instance, ends in subsets.items():
            key = SubsetKey(up, instance, down)
            subset = subset_pb2.Subset()
            subset.CopyFrom(there.get(key, some[pair]))
            subset.key.CopyFrom(message_of(key))
            lasts = {endpoint.instance: endpoint for endpoint in there[key].endpoints} if key in there else {}
            del subset.endpoints[:]
            subset.endpoints.extend(_endpoint(to, weight, known, lasts) for to, weight in ends.items())
            if problems:
                subset.state = subset_pb2.STATE_HELD
                del subset.reasons[:]
                subset.reasons.extend(Reason(code="HELD", text=problem) for problem in problems[:MOST_REASONS])
            yield from _if_new(subset, published.get(key))
    for key, last in there.items():
        pair = key.upstream, key.downstream
        if pair in after and key.instance not in after[pair]:
            yield from ended(last, now_ms)


def _endpoint(
    instance: str, weight: int, known: Mapping[str, Member], lasts: Mapping[str, subset_pb2.Endpoint]
) -> subset_pb2.Endpoint:
    """The endpoint of a container: its present address and zone, or the last ones where no source reports any."""
    now, last = known.get(instance, Member(instance)), lasts.get(instance, subset_pb2.Endpoint())
    return subset_pb2.Endpoint(
        instance=instance, weight=weight, address=now.address or last.address, zone=now.zone or last.zone
    )


def ended(last: subset_pb2.Subset, now_ms: int) -> Iterator[subset_pb2.Subset]:
    if last.state != subset_pb2.STATE_DELETED:
        yield subset_pb2.Subset(
            key=last.key, state=subset_pb2.STATE_DELETED, revision=last.revision, computed_at=timestamp(now_ms)
        )


def containers(
    application: Application, published: Mapping[str, log_pb2.ServiceContainers], now_ms: int
) -> dict[str, log_pb2.ServiceContainers | None]:
    """Services with changed containers; None for services that are gone."""
    zones = {host.name: host.zone for host in application.hosts}
    changes: dict[str, log_pb2.ServiceContainers | None] = {}
    for service in application.services:
        now = _service(service, zones)
        last = published.get(service.name)
        if last is None or list(last.containers) != list(now.containers):
            now.computed_at.CopyFrom(timestamp(now_ms))
            changes[service.name] = now
    changes.update(dict.fromkeys(published.keys() - {service.name for service in application.services}))
    return changes


def members_of(
    members: Members, published: Mapping[str, log_pb2.ServiceContainers], services: Collection[str], now_ms: int
) -> dict[str, log_pb2.ServiceContainers | None]:
    """As `containers`, for `services` and the published ones, as far as anything is known of them. It deletes none."""
    changes: dict[str, log_pb2.ServiceContainers | None] = {}
    for name in sorted((published.keys() | set(services)) & members.keys()):
        now = _message(name, members[name])
        last = published.get(name)
        if last is None or list(last.containers) != list(now.containers):
            now.computed_at.CopyFrom(timestamp(now_ms))
            changes[name] = now
    return changes


def connections(published: Iterable[subset_pb2.Subset]) -> NamedConnections:
    """The published connections, to continue from."""
    by_pair: NamedConnections = {}
    for subset in published:
        if subset.state != subset_pb2.STATE_DELETED:
            ends = by_pair.setdefault((subset.key.upstream, subset.key.downstream), {})
            for endpoint in subset.endpoints:
                ends[subset.key.instance, endpoint.instance] = float(endpoint.weight)
    return by_pair


def by_key(subsets: Iterable[subset_pb2.Subset]) -> dict[SubsetKey, subset_pb2.Subset]:
    return {key_of(subset.key): subset for subset in subsets}


def _service(service: Service, zones: Mapping[str, str]) -> log_pb2.ServiceContainers:
    those = (
        Member(container.name, container.address, zones[container.host], container.drained, container.not_ready)
        for container in service.containers
    )
    return _message(service.name, those)


def _message(service: str, those: Iterable[Member]) -> log_pb2.ServiceContainers:
    return log_pb2.ServiceContainers(
        service=service,
        containers=[
            log_pb2.Container(
                instance=container.instance,
                address=container.address,
                zone=container.zone,
                drained=container.drained,
                not_ready=container.not_ready,
            )
            for container in sorted(those, key=lambda container: container.instance)
        ],
    )


def _endpoints(
    ends: Sequence[Container], shares: Sequence[float], zones: Mapping[str, str], last: subset_pb2.Subset | None
) -> list[subset_pb2.Endpoint]:
    """Ordered by instance, as fleets are."""
    weights = [max(1, round(share * len(shares) * MEAN_WEIGHT)) for share in shares]
    if last is not None and [endpoint.instance for endpoint in last.endpoints] == [end.name for end in ends]:
        last_weights = [endpoint.weight for endpoint in last.endpoints]
        scale = sum(weights) / max(sum(last_weights), 1)
        if all(abs(now - was * scale) <= CLOSE * was * scale for now, was in zip(weights, last_weights, strict=True)):
            weights = last_weights
    return [
        subset_pb2.Endpoint(instance=end.name, address=end.address, weight=weight, zone=zones[end.host])
        for end, weight in zip(ends, weights, strict=True)
    ]


def _reasons(service: str, ends: Sequence[Container], learnt: bool, back: str) -> Iterator[Reason]:
    if back:
        yield Reason(code="REVERT", text=back)
    if not learnt:
        yield Reason(
            code="FEW_SAMPLES",
            text=f"{service} has too few latency samples: the solver compares its containers by host utilization",
        )
    if any(not end.address for end in ends):
        yield Reason(code="NO_ADDRESS", text="no source reports the address of some of these containers")


def _if_new(subset: subset_pb2.Subset, last: subset_pb2.Subset | None) -> Iterator[subset_pb2.Subset]:
    """The subset with its revision, which grows with endpoints and weights. Yields nothing where it equals the
    published one."""
    subset.revision = 1 if last is None else last.revision
    if last is not None:
        if list(last.endpoints) != list(subset.endpoints):
            subset.revision += 1
        elif (
            last.state == subset.state
            and list(last.reasons) == list(subset.reasons)
            and last.strategy == subset.strategy
        ):
            return
    yield subset
