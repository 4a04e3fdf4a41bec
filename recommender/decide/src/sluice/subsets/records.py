"""The journal's records of an application's subsets, and the records that a step adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sluice.model.containers import ReportedContainers
from sluice.model.keys import SubsetKey
from sluice.subsets.adoption import AdoptionVerdict
from sluice.subsets.callers import Adoption
from sluice.subsets.members import LeftOut
from sluice.subsets.state import SubsetState
from sluice.subsets.v1 import explanation_pb2, log_pb2, subset_pb2

Subsets = Mapping[SubsetKey, subset_pb2.Subset]


@dataclass(frozen=True)
class SubsetRecords:
    """Records that differ from those in the journal. None deletes the record."""

    subsets: list[subset_pb2.Subset] = field(default_factory=list)
    containers: dict[str, log_pb2.ServiceContainers | None] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.subsets or self.containers)


@dataclass(frozen=True)
class KnownSubsets:
    """The subsets of a shard's application, as in the journal.

    subsets: includes deleted ones, because revisions continue from theirs. state: None where nothing was decided yet.
    solved: the planner's state; None where this process did not solve them. left_out: of the newest observations;
    None before the first ones. adoption: of the newest observations; None before the first ones. explained: the
    verdicts in the newest explanations, but UNKNOWN.
    """

    subsets: Subsets = field(default_factory=dict)
    containers: Mapping[str, log_pb2.ServiceContainers] = field(default_factory=dict)
    state: log_pb2.ApplicationState | None = None
    solved: SubsetState | None = None
    left_out: LeftOut | None = None
    adoption: Adoption | None = None
    explained: Mapping[SubsetKey, AdoptionVerdict] = field(default_factory=dict)

    def summary(self) -> str:
        return f"{len(self.subsets)} subsets"


def older_than(known: KnownSubsets, reported: Mapping[str, ReportedContainers]) -> LeftOut:
    """By service, containers that a report before the newest one left out, and those that were published before the
    newest report."""
    older = dict(left_out_in(known.state))
    for service, containers in known.containers.items():
        report = reported.get(service)
        if report is not None and containers.computed_at.ToMilliseconds() / 1000 <= report.at_s:
            published = frozenset(container.instance for container in containers.containers)
            older[service] = older.get(service, frozenset()) | published
    return older


def left_out_in(state: log_pb2.ApplicationState | None) -> LeftOut:
    return {} if state is None else {one.service: frozenset(one.instances) for one in state.left_out}


def adoption_in(state: log_pb2.ApplicationState | None) -> Adoption:
    """What another process left: the callers that do not follow."""
    if state is None:
        return Adoption()
    fixed = {
        SubsetKey(one.upstream, one.instance, one.downstream): dict(one.shares) or None for one in state.not_following
    }
    return Adoption(dict.fromkeys(fixed, AdoptionVerdict.NOT_FOLLOWING), fixed)


def not_following(adoption: Adoption) -> list[log_pb2.FixedCaller]:
    """Ordered by key."""
    return [
        log_pb2.FixedCaller(
            upstream=key.upstream, instance=key.instance, downstream=key.downstream, shares=adoption.fixed[key] or {}
        )
        for key in sorted(adoption.fixed)
    ]


@dataclass(frozen=True)
class SubsetCommit:
    """Records of one transaction. A value of None deletes the record. problems: problems of the inputs; they are not
    recorded."""

    published: SubsetRecords = field(default_factory=SubsetRecords)
    pairs: Sequence[explanation_pb2.PairExplanation] = ()
    run: explanation_pb2.Run | None = None
    states: Mapping[str, log_pb2.ApplicationState | None] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.published or self.pairs or self.run or self.states)
