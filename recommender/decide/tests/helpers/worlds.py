"""A control loop on fakes, stepped through time with a fake clock."""

from dataclasses import dataclass, field

from fakes import (
    CART,
    DB,
    FakeClock,
    FakeCollector,
    FakeHistory,
    config,
)
from sluice.config import Config, Pool, Slo, Upstream
from sluice.control.answer import Answer
from sluice.control.loop import ControlLoop
from sluice.control.pauses import Pauses
from sluice.control.scalings import Scaling, Scalings
from sluice.control.sizes import Sizes
from sluice.control.store import Store
from sluice.core.keys import PoolKey
from sluice.log.memory import MemoryStateLog


@dataclass
class World:
    clock: FakeClock = field(default_factory=FakeClock)
    collector: FakeCollector = field(default_factory=FakeCollector)
    history: FakeHistory = field(default_factory=FakeHistory)
    store: Store = field(default_factory=Store)
    sizes: Sizes = field(default_factory=Sizes)
    pauses: Pauses = field(default_factory=Pauses)
    scalings: Scalings = field(default_factory=Scalings)
    records: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.states = MemoryStateLog(self.records)
        for service in (CART.service, DB.peer):
            self.scalings.notify(Scaling(0, service, 4.0, None, "", "vpa"))
        self.loop = ControlLoop(
            config(),
            self.collector,
            self.history,
            self.states,
            self.store,
            self.sizes,
            self.clock,
            self.pauses,
            self.scalings,
        )

    def step(self, after_s: float = 5) -> Answer:
        """So much later; cart's answer."""
        self.clock.pass_s(after_s)
        self.loop.step()
        return self.cart

    def run(self, seconds: int, key: PoolKey = CART) -> list[Answer]:
        """A period a second, in which the service works and its actuator does what is said at once."""
        service, found = self.collector.services[key], []
        for _ in range(seconds):
            self.sizes.report(key, service.size, self.clock())
            service.works(self.clock(), self.clock() + 1_000)
            self.step(1)
            answer = self.store.get(key)
            assert answer is not None
            found.append(answer)
            if answer.content.action == "APPLY" and answer.content.target is not None:
                service.size = answer.content.target
                self.sizes.report(key, service.size, self.clock(), written=True)
        return found

    @property
    def cart(self) -> Answer:
        answer = self.store.get(CART)
        assert answer is not None
        return answer


def brief(answer: Answer) -> tuple[str, int | None, int]:
    return answer.content.state, answer.content.target, answer.revision


def above(pool: Pool, slo_ms: float = 250, **asked: object) -> Config:
    """Cart's threshold by the traces of frontend."""
    upstream = Upstream.model_validate({"from": "traces", **asked})
    slo = Slo.model_validate({"name": "checkout", "service": "frontend", "latency": f"{slo_ms:g}ms"})
    return config(slos=[slo], pools=[pool.model_copy(update={"upstream": upstream})])


def codes(answer: Answer) -> tuple[str, ...]:
    return answer.content.codes
