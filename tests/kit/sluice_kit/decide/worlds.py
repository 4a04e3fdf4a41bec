"""A control loop on fakes, stepped through time with a fake clock."""

from dataclasses import dataclass, field

from sluice.config import Config, Pool, Slo, Upstream
from sluice.model.keys import PoolKey
from sluice.model.problems import Problems
from sluice.model.scaling import Scaling
from sluice.pools.names import pool_name
from sluice.pools.period.resources import PoolResources
from sluice.pools.publication.publication import Publication
from sluice.pools.shard import PoolsShard
from sluice.pools.v1.log_pb2 import ShardHeartbeat
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice_kit.decide.fakes import (
    CART,
    DB,
    AtOnce,
    FakeClock,
    FakeCollector,
    config,
)
from sluice_kit.journal.memory_log import MemoryLog, pool_shard


@dataclass
class World:
    clock: FakeClock = field(default_factory=FakeClock)
    collector: FakeCollector = field(default_factory=FakeCollector)
    log: MemoryLog = field(default_factory=MemoryLog)
    """What outlives the decider, and what callers tell it by."""
    problems: Problems = field(default_factory=Problems)
    config: Config = field(default_factory=config)

    def __post_init__(self) -> None:
        for service in (CART.service, DB.peer):
            self.log.scaling(Scaling(0, service, 4.0, None, "", "vpa"))
        self.resources = PoolResources(problems=self.problems, background=AtOnce())
        self.loop = self.log.loop(self.config, self.collector, self.clock, self.resources)

    @property
    def decider(self) -> PoolsShard:
        return pool_shard(self.loop)

    def configure(self, config: Config) -> None:
        self.loop.next_config = config

    def step(self, after_s: float = 5) -> Publication:
        """So much later; cart's answer."""
        self.clock.pass_s(after_s)
        self.loop.periods()
        return self.cart

    def run(self, seconds: int, key: PoolKey = CART) -> list[Publication]:
        """A period a second, in which the service works and its actuator does what is said at once."""
        service, answers = self.collector.services[key], []
        for _ in range(seconds):
            self.log.size(key, service.size, self.clock())
            self.loop.hear()
            service.works(self.clock(), self.clock() + 1_000)
            self.clock.pass_s(1)
            self.loop.periods()
            if (answer := self.decider.answers.get(key)) is None:
                continue  # windows of now are awaited
            answers.append(answer)
            if answer.content.action == "APPLY" and answer.content.target is not None:
                service.size = answer.content.target
                self.log.size(key, service.size, self.clock(), written=True)
                self.loop.hear()
        return answers

    @property
    def cart(self) -> Publication:
        return self.decider.answers[CART]

    def publication(self, key: PoolKey = CART) -> PoolSize:
        """The newest of the pool in the journal."""
        return PoolSize.FromString(self.log.committed(self.log.topics.decisions)[pool_name(key)])

    def heartbeat(self) -> ShardHeartbeat:
        """The newest in the journal."""
        return self.log.heartbeat()


def brief(answer: Publication) -> tuple[str, int | None, int]:
    return answer.content.state, answer.content.target, answer.revision


def above(pool: Pool, slo_ms: float = 250, **options: object) -> Config:
    """Cart's threshold by the traces of frontend."""
    upstream = Upstream.model_validate({"from": "traces", **options})
    slo = Slo.model_validate({"name": "checkout", "service": "frontend", "latency": f"{slo_ms:g}ms"})
    return config(slos=[slo], pools=[pool.model_copy(update={"upstream": upstream})])


def codes(answer: Publication) -> tuple[str, ...]:
    return answer.content.codes
