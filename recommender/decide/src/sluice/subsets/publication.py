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


def of_state(state: SubsetState, application: Application, said: Subsets, now_ms: int) -> Iterator[subset_pb2.Subset]:
    """The subsets of a solution that differ from the published ones, and the ends of those that it no longer has."""
    services = {service.name: service for service in application.services}
    zones = {host.name: host.zone for host in application.hosts}
    solution, problem = state.solved.solution, state.solved.problem
    there: set[SubsetKey] = set()
    for pair, subsets in zip(problem.pairs, solution.subsets, strict=True):
        up, down = problem.fleets[pair.upstream], problem.fleets[pair.downstream]
        below = {each.name: each for each in services[down.service].containers}
        learnt = isinstance(state.model.of(down.service), BoostedLatency)
        pace = state.paces.get(down.service)
        back = pace.reverted if pace is not None else ""
        for number, instance in enumerate(up.names):
            start, end = int(subsets.start[number]), int(subsets.start[number + 1])
            ends = [below[down.names[to]] for to in subsets.to[start:end]]
            key = SubsetKey(up.service, instance, down.service)
            there.add(key)
            made = subset_pb2.Subset(
                key=message_of(key),
                state=subset_pb2.STATE_PROVIDED if learnt else subset_pb2.STATE_LEARNING,
                endpoints=_endpoints(ends, subsets.share[start:end].tolist(), zones, said.get(key)),
                reasons=list(_reasons(down.service, ends, learnt, back)),
                strategy=solution.strategy,
                computed_at=timestamp(now_ms),
            )
            yield from _if_new(made, said.get(key))
    for key in said.keys() - there:
        yield from ended(said[key], now_ms)


def followed(
    said: Subsets, members: Members, bounds: ConnectionLimits, problems: Sequence[str], now_ms: int
) -> Iterator[subset_pb2.Subset]:
    """The published subsets, adapted to the present containers. With `problems`, they are held and name the
    problems."""
    there = {key: each for key, each in said.items() if each.state != subset_pb2.STATE_DELETED}
    before: dict[tuple[str, str], dict[str, dict[str, int]]] = {}
    some: dict[tuple[str, str], subset_pb2.Subset] = {}
    for key, each in there.items():
        pair = key.upstream, key.downstream
        before.setdefault(pair, {})[key.instance] = {end.instance: end.weight for end in each.endpoints}
        some.setdefault(pair, each)
    after = follow(before, members, bounds)
    for pair, subsets in after.items():
        up, down = pair
        known = {each.instance: each for each in members.get(down, ())}
        for instance, ends in subsets.items():
            key = SubsetKey(up, instance, down)
            made = subset_pb2.Subset()
            made.CopyFrom(there.get(key, some[pair]))
            made.key.CopyFrom(message_of(key))
            lasts = {each.instance: each for each in there[key].endpoints} if key in there else {}
            del made.endpoints[:]
            made.endpoints.extend(_endpoint(to, weight, known, lasts) for to, weight in ends.items())
            if problems:
                made.state = subset_pb2.STATE_HELD
                del made.reasons[:]
                made.reasons.extend(Reason(code="HELD", text=each) for each in problems[:MOST_REASONS])
            yield from _if_new(made, said.get(key))
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
    application: Application, said: Mapping[str, log_pb2.ServiceContainers], now_ms: int
) -> dict[str, log_pb2.ServiceContainers | None]:
    """Services with changed containers; None for services that are gone."""
    zones = {host.name: host.zone for host in application.hosts}
    found: dict[str, log_pb2.ServiceContainers | None] = {}
    for service in application.services:
        now = _service(service, zones)
        last = said.get(service.name)
        if last is None or list(last.containers) != list(now.containers):
            now.computed_at.CopyFrom(timestamp(now_ms))
            found[service.name] = now
    found.update(dict.fromkeys(said.keys() - {service.name for service in application.services}))
    return found


def members_of(
    members: Members, said: Mapping[str, log_pb2.ServiceContainers], services: Collection[str], now_ms: int
) -> dict[str, log_pb2.ServiceContainers | None]:
    """As `containers`, for `services` and the published ones, as far as anything is known of them. It deletes none."""
    found: dict[str, log_pb2.ServiceContainers | None] = {}
    for name in sorted((said.keys() | set(services)) & members.keys()):
        now = _message(name, members[name])
        last = said.get(name)
        if last is None or list(last.containers) != list(now.containers):
            now.computed_at.CopyFrom(timestamp(now_ms))
            found[name] = now
    return found


def connections(said: Iterable[subset_pb2.Subset]) -> NamedConnections:
    """The published connections, to continue from."""
    found: NamedConnections = {}
    for each in said:
        if each.state != subset_pb2.STATE_DELETED:
            ends = found.setdefault((each.key.upstream, each.key.downstream), {})
            for endpoint in each.endpoints:
                ends[each.key.instance, endpoint.instance] = float(endpoint.weight)
    return found


def by_key(subsets: Iterable[subset_pb2.Subset]) -> dict[SubsetKey, subset_pb2.Subset]:
    return {key_of(each.key): each for each in subsets}


def _service(service: Service, zones: Mapping[str, str]) -> log_pb2.ServiceContainers:
    those = (Member(each.name, each.address, zones[each.host], each.drained) for each in service.containers)
    return _message(service.name, those)


def _message(service: str, those: Iterable[Member]) -> log_pb2.ServiceContainers:
    return log_pb2.ServiceContainers(
        service=service,
        containers=[
            log_pb2.Container(instance=each.instance, address=each.address, zone=each.zone, drained=each.drained)
            for each in sorted(those, key=lambda each: each.instance)
        ],
    )


def _endpoints(
    ends: Sequence[Container], shares: Sequence[float], zones: Mapping[str, str], last: subset_pb2.Subset | None
) -> list[subset_pb2.Endpoint]:
    """Ordered by instance, as fleets are."""
    weights = [max(1, round(share * len(shares) * MEAN_WEIGHT)) for share in shares]
    if last is not None and [each.instance for each in last.endpoints] == [each.name for each in ends]:
        before = [each.weight for each in last.endpoints]
        scale = sum(weights) / max(sum(before), 1)
        if all(abs(now - was * scale) <= CLOSE * was * scale for now, was in zip(weights, before, strict=True)):
            weights = before
    return [
        subset_pb2.Endpoint(instance=each.name, address=each.address, weight=weight, zone=zones[each.host])
        for each, weight in zip(ends, weights, strict=True)
    ]


def _reasons(service: str, ends: Sequence[Container], learnt: bool, back: str) -> Iterator[Reason]:
    if back:
        yield Reason(code="REVERT", text=back)
    if not learnt:
        yield Reason(
            code="FEW_SAMPLES",
            text=f"{service} has too few latency samples: the solver compares its containers by host utilization",
        )
    if any(not each.address for each in ends):
        yield Reason(code="NO_ADDRESS", text="no source reports the address of some of these containers")


def _if_new(made: subset_pb2.Subset, last: subset_pb2.Subset | None) -> Iterator[subset_pb2.Subset]:
    """The subset with its revision, which grows with endpoints and weights. Yields nothing where it equals the
    published one."""
    made.revision = 1 if last is None else last.revision
    if last is not None:
        if list(last.endpoints) != list(made.endpoints):
            made.revision += 1
        elif last.state == made.state and list(last.reasons) == list(made.reasons) and last.strategy == made.strategy:
            return
    yield made
