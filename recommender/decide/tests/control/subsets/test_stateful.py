"""Whatever comes, in whatever order: containers that come, go, fall silent or are drained, bad input, commits that are
aborted, deciders that are killed."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from subset_worlds import TREE, SubsetWorld

from sluice.control.scalings import Scaling
from sluice.core.keys import SubsetKey
from sluice.log.memory_broker import MemoryBroker
from sluice.log.shard import AbortedError
from sluice.subsets.application import Call
from sluice.subsets.seen import SeenTree, ToldContainer
from sluice.subsets.v1 import subset_pb2

CIRCLE = SeenTree("GET /", Call("front", ((Call("cart", ((Call("front"),),)),),)), 1)
HOSTS = [f"h{number}" for number in range(4)]


class Subsets(RuleBasedStateMachine):
    services, numbers = st.sampled_from(["front", "cart"]), st.integers(0, 9)

    def __init__(self) -> None:
        super().__init__()
        self.world = SubsetWorld()
        self.revisions: dict[SubsetKey, int] = {}
        self.drained: set[str] = set()
        self.settled = True
        """Whether a step was made since something was told or seen, on good input."""

    @initialize()
    def begin(self) -> None:
        self.world.step()

    @rule(service=services, number=numbers, host=st.sampled_from(HOSTS))
    def comes(self, service: str, number: int, host: str) -> None:
        self.world.source.containers[service].setdefault(f"{service}-{number}", host)
        self.settled = False

    @rule(service=services, number=numbers)
    def goes(self, service: str, number: int) -> None:
        there = self.world.source.containers[service]
        if len(there.keys() - self.drained) > 1:
            there.pop(f"{service}-{number}", None)
            self.settled = False

    @rule(number=numbers)
    def is_drained(self, number: int) -> None:
        there = self.world.source.containers["cart"]
        drained = (self.drained ^ {f"cart-{number}"}) & there.keys()
        if not there.keys() - drained:
            return
        self.drained = drained
        told = tuple(ToldContainer(name, host=host, drained=name in drained) for name, host in sorted(there.items()))
        self.world.clock.pass_s(1)
        self.world.log.scaling(Scaling(self.world.clock(), "cart", None, None, "", "test", told))
        self.settled = False

    @rule(host=st.sampled_from(HOSTS), cpu=st.floats(0, 1))
    def drifts(self, host: str, cpu: float) -> None:
        self.world.source.cpu[host] = cpu

    @precondition(lambda self: self.world.source.trees != [CIRCLE])
    @rule()
    def becomes_bad(self) -> None:
        self.world.source.trees = [CIRCLE]

    @rule()
    def becomes_good(self) -> None:
        self.world.source.trees = [SeenTree("GET /", TREE, 3_000)]
        self.settled = False

    @rule(seconds=st.sampled_from([10, 30, 90]))
    def steps(self, seconds: int) -> None:
        self.world.step(seconds)
        self.settled = self.world.source.trees != [CIRCLE]

    @rule(call=st.sampled_from(["begin", "send", "send_offset", "commit"]))
    def is_aborted(self, call: str) -> None:
        broker = self.world.loop.shards._broker
        assert isinstance(broker, MemoryBroker)
        left = [call]

        def called(name: str) -> None:
            if name in left:
                left.remove(name)
                raise AbortedError("by the test")

        broker.called = called
        self.world.step()
        broker.called = lambda name: None
        self.settled = False

    @rule()
    def is_killed(self) -> None:
        self.world = self.world.again()

    @invariant()
    def revisions_never_fall_and_nobody_is_left_without(self) -> None:
        for key, each in self.world.subsets.items():
            assert each.revision >= self.revisions.get(key, 0)
            self.revisions[key] = each.revision
            assert each.endpoints
            assert [end.instance for end in each.endpoints] == sorted(end.instance for end in each.endpoints)
            assert all(end.weight >= 1 for end in each.endpoints)

    @invariant()
    def after_a_step_all_who_are_there_are_connected_to_those_who_are(self) -> None:
        if not self.settled:
            return
        there = self.world.source.containers
        available = self._available()
        assert set(self.world.ends()) == set(there["front"])
        for each in self.world.subsets.values():
            assert each.state != subset_pb2.STATE_HELD
            ends = {end.instance for end in each.endpoints}
            assert ends <= available
            assert len(ends) >= min(2, len(available))
        assert {end for ends in self.world.ends().values() for end in ends} == available

    def _available(self) -> set[str]:
        """What was told counts more than what was seen, but for those that came since."""
        told = self.world.loop.deciders[0]._heard.scalings.told().get("cart") if self.world.loop.deciders else None
        seen = set(self.world.source.containers["cart"])
        if told is None:
            return seen
        return {each.instance for each in told.containers if not each.drained}


Subsets.TestCase.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
TestSubsets = Subsets.TestCase
