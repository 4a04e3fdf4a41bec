"""A decider of subsets on a log in memory: what the pipeline saw is set by hand, time is the test's."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from sluice.config import Config
from sluice.model.keys import SubsetKey
from sluice.model.problems import Problems
from sluice.pools.period.resources import PoolResources
from sluice.subsets.application import Call
from sluice.subsets.fleet import Ints
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.names import APPLICATION, CONTAINERS, SUBSET, pair_name, subset_of
from sluice.subsets.observed import (
    ObservedApplication,
    ObservedCalls,
    ObservedContainer,
    ObservedHost,
    ObservedTree,
)
from sluice.subsets.product import SubsetResources
from sluice.subsets.section import Subsetting
from sluice.subsets.v1 import explanation_pb2, log_pb2, subset_pb2
from sluice_kit.decide.fakes import AtOnce, FakeClock, FakeCollector, config
from sluice_kit.journal.memory_log import MemoryLog

TREE = Call("front", ((Call("cart"),),))
S = 1_000
Calling = Literal["plan", "even", "one", "few"]
"""As the subset says, all containers alike, one of them, or too few calls to tell."""


@dataclass
class FakeSource:
    """What the pipeline saw; raises `problem`."""

    containers: dict[str, dict[str, str]]
    """By service the host of each instance."""
    cpu: dict[str, float]
    trees: list[ObservedTree] = field(default_factory=lambda: [ObservedTree("GET /", TREE, 3_000)])
    learnt: dict[str, tuple[LatencySamples, Ints]] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    """Instances without a request in the newest minute."""
    problem: Exception | None = None
    first_s: dict[str, int] = field(default_factory=dict)
    """By instance when it was seen first, of those that came lately."""
    calls: list[ObservedCalls] = field(default_factory=list)
    """Of the newest two minutes."""

    def observed(self, now_ms: int, window_ms: float) -> ObservedApplication:
        if self.problem is not None:
            raise self.problem
        newest = now_ms // S
        containers = [
            ObservedContainer(
                service,
                instance,
                host,
                3_000,
                self.first_s.get(instance, newest - 300),
                newest - 60 * (instance in self.silent),
            )
            for service, instances in self.containers.items()
            for instance, host in instances.items()
        ]
        return ObservedApplication(
            tuple(containers),
            tuple(self.trees),
            {name: ObservedHost(cpu, 0.1, 0.1) for name, cpu in self.cpu.items()},
            300.0,
            newest,
            calls=tuple(self.calls),
        )

    def samples(self, now_ms: int, learn_ms: float) -> dict[str, tuple[LatencySamples, Ints]]:
        return self.learnt


def shop(front: int = 4, cart: int = 6) -> FakeSource:
    """front calls cart; containers on four hosts, from idle to busy."""
    hosts = {f"h{number}": 0.1 + 0.2 * number for number in range(4)}
    return FakeSource(
        {
            name: {f"{name}-{number}": f"h{number % 4}" for number in range(count)}
            for name, count in (("front", front), ("cart", cart))
        },
        hosts,
    )


def samples(count: int) -> tuple[LatencySamples, Ints]:
    """Latency doubles with each 0.3 of CPU."""
    number = np.arange(count, dtype=np.float64)
    rate, cpu = 5 + number % 7, 0.1 + 0.2 * (number % 4)
    contention = np.column_stack([cpu, np.full(count, 0.1), np.full(count, 0.1)])
    drawn = LatencySamples(rate, contention, np.log(5) + np.log(2) / 0.3 * cpu + rate / 100, np.full(count, 0.4))
    return drawn, (number // 4).astype(np.int64)


@dataclass
class SubsetWorld:
    source: FakeSource = field(default_factory=shop)
    clock: FakeClock = field(default_factory=FakeClock)
    log: MemoryLog = field(default_factory=MemoryLog)
    problems: Problems = field(default_factory=Problems)
    options: dict[str, object] = field(default_factory=dict)
    background: Executor = field(default_factory=AtOnce)
    callers: dict[str, Calling] = field(default_factory=dict)
    """How containers of front call cart; the calls of others are not seen."""
    collector: FakeCollector = field(default_factory=FakeCollector)
    """Of the pools' part of a period."""

    def __post_init__(self) -> None:
        pools, self.resources = (
            PoolResources(problems=self.problems, background=AtOnce()),
            SubsetResources(self.source, self.background),
        )
        self.loop = self.log.loop(self.config(), self.collector, self.clock, pools, self.resources)

    def config(self) -> Config:
        return config(subsets=[Subsetting.model_validate(self.options)])

    def again(self) -> SubsetWorld:
        """Another decider, after this one was killed."""
        return replace(self)

    def step(self, after_s: float = 10) -> None:
        began_s = self.clock() // S
        self.clock.pass_s(after_s)
        if self.callers:
            self._call(began_s)
        self.loop.periods()

    def _call(self, began_s: int) -> None:
        self.source.calls = [one for one in self.source.calls if one.start_s >= self.clock() // S - 120]
        self.source.calls += [
            ObservedCalls("front", instance, "cart", container, began_s, calls)
            for instance, how in self.callers.items()
            for container, calls in self._calls(instance, how).items()
        ]

    def _calls(self, instance: str, how: Calling) -> dict[str, int]:
        """600 or so to all containers in the time of a step."""
        all_ = dict.fromkeys(self.source.containers["cart"], 100)
        if how == "even":
            return all_
        if how == "few":
            return dict.fromkeys(all_, 1)
        if how == "one":
            return {min(all_): 600}
        subset = self.subsets.get(SubsetKey("front", instance, "cart"))
        return all_ if subset is None else {end.instance: end.weight for end in subset.endpoints}

    @property
    def subsets(self) -> dict[SubsetKey, subset_pb2.Subset]:
        """In the journal, without those that went."""
        newest = {
            subset_of(name): subset_pb2.Subset.FromString(value)
            for name, value in self.log.committed(self.log.topics.decisions).items()
            if name.startswith(SUBSET)
        }
        return {key: subset for key, subset in newest.items() if subset.state != subset_pb2.STATE_DELETED}

    @property
    def containers(self) -> dict[str, list[str]]:
        """In the journal, by service."""
        decisions = self.log.committed(self.log.topics.decisions)
        made = [log_pb2.ServiceContainers.FromString(v) for k, v in decisions.items() if k.startswith(CONTAINERS)]
        return {service.service: [container.instance for container in service.containers] for service in made}

    @property
    def addresses(self) -> dict[str, dict[str, str]]:
        """Of the containers in the journal, by service and instance."""
        decisions = self.log.committed(self.log.topics.decisions)
        made = [log_pb2.ServiceContainers.FromString(v) for k, v in decisions.items() if k.startswith(CONTAINERS)]
        return {one.service: {container.instance: container.address for container in one.containers} for one in made}

    @property
    def not_ready(self) -> set[str]:
        """The containers in the journal that are not ready."""
        decisions = self.log.committed(self.log.topics.decisions)
        made = [log_pb2.ServiceContainers.FromString(v) for k, v in decisions.items() if k.startswith(CONTAINERS)]
        return {container.instance for one in made for container in one.containers if container.not_ready}

    @property
    def run(self) -> explanation_pb2.Run:
        return explanation_pb2.Run.FromString(self.log.committed(self.log.topics.explanations)[f"{APPLICATION}default"])

    def explanation(self, upstream: str, downstream: str) -> explanation_pb2.PairExplanation:
        """The newest one in the journal; an empty one before the first."""
        newest = self.log.committed(self.log.topics.explanations).get(pair_name(upstream, downstream), b"")
        return explanation_pb2.PairExplanation.FromString(newest)

    def ends(self) -> dict[str, list[str]]:
        """The instances that each container of front is connected to."""
        return {
            key.instance: [endpoint.instance for endpoint in subset.endpoints] for key, subset in self.subsets.items()
        }
