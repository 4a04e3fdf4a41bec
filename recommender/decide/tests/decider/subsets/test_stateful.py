"""Whatever comes, in whatever order: containers that come, go, are replaced, fall silent or are drained, new addresses,
input that is bad or missing, a solver that fails or learns, commits that are aborted, deciders that are killed."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sluice.journal.shard import AbortedError
from sluice.model.containers import NotifiedContainer
from sluice.model.keys import SubsetKey
from sluice.model.scaling import Scaling
from sluice.subsets.application import USUAL, Call
from sluice.subsets.observed import ObservedTree
from sluice.subsets.plan import plan
from sluice.subsets.training import Training
from sluice.subsets.v1 import subset_pb2
from sluice_kit.decide.subset_worlds import TREE, Calling, SubsetWorld, shop
from sluice_kit.journal.memory_broker import MemoryBroker

GOOD = [ObservedTree("GET /", TREE, 3_000)]
CIRCLE = [*GOOD, ObservedTree("GET /", Call("front", ((Call("cart", ((Call("front"),),)),),)), 1)]
LEASE_S = 600
HOSTS = [f"h{number}" for number in range(4)]
#: What can be wrong, and whether subsets are marked for it; where they are not, those that were marked stay so.
WRONG = {"nan": True, "no trees": True, "away": False, "fails": True, "learning": False, "training fails": False}


class Subsets(RuleBasedStateMachine):
    services, numbers, then = st.sampled_from(["front", "cart"]), st.integers(0, 9), st.booleans()

    def __init__(self) -> None:
        super().__init__()
        self.world = SubsetWorld()
        self.revisions: dict[SubsetKey, int] = {}
        self.wrong = ""
        self.told: dict[str, NotifiedContainer] = {}
        self.told_s = 0
        self.left_out: set[str] = set()
        """Of cart: whom the newest report left out, as long as spans show them."""
        self.there: dict[str, set[str]] = {}
        """Who is there, as far as a decider that made its step can know; empty while it did not."""
        self.generation = 0
        self.otherwise: set[str] = set()
        newest = Training.newest
        self.patches = [
            patch("sluice.subsets.step.plan", self._plan),
            patch.object(Training, "newest", lambda *of: self._newest(newest, *of)),
        ]
        for each in self.patches:
            each.start()

    def teardown(self) -> None:
        for active in self.patches:
            active.stop()

    @initialize(wrong=st.sampled_from(["", *WRONG]))
    def begin(self, wrong: str) -> None:
        self.world.step()
        self._becomes(wrong)
        self._steps(10)

    @rule(then=then, service=services, number=numbers, host=st.sampled_from(HOSTS))
    def comes(self, service: str, number: int, host: str, then: bool) -> None:
        name = f"{service}-{number}"
        if name not in self.world.source.containers[service]:
            self._add(service, name, host)
        if then:
            self._steps(10)

    @rule(then=then, service=services, number=numbers)
    def goes(self, service: str, number: int, then: bool) -> None:
        there = self.world.source.containers[service]
        if len(there.keys()) > 1:
            there.pop(f"{service}-{number}", None)
            self.there = {}
        if then:
            self._steps(10)

    @rule(then=then, service=services, number=numbers)
    def falls_silent_or_works_again(self, service: str, number: int, then: bool) -> None:
        name = f"{service}-{number}"
        if name in self.world.source.containers[service]:
            self.world.source.silent ^= {name}
            self.there = {}
        if then:
            self._steps(10)

    @rule(then=then, keep=st.integers(1, 5))
    def is_reported_in_part(self, keep: int, then: bool) -> None:
        """The source names the first ones, and one that has no spans."""
        some = self._cart()[:keep]
        self._tell({name: NotifiedContainer(name, f"10.3.0.{at}:80") for at, name in [*some, (99, "cart-99")]})
        if then:
            self._steps(10)

    @rule()
    def a_report_s_lease_ends(self) -> None:
        self._steps(LEASE_S + 10)

    @rule(then=then, service=services)
    def is_replaced(self, service: str, then: bool) -> None:
        """A rollout: other names, all of them."""
        old = self.world.source.containers[service]
        self.generation += 1
        self.world.source.containers[service] = {}
        for at, host in enumerate(old.values()):
            self._add(service, f"{service}-{self.generation}-{at}", host)
        if service == "cart" and self.told:
            self._tell({name: NotifiedContainer(name, f"10.1.{self.generation}.{at}:80") for at, name in self._cart()})
        if then:
            self._steps(10)

    @rule(then=then, number=numbers)
    def is_drained(self, number: int, then: bool) -> None:
        drained = {name for name, container in self.told.items() if container.drained} ^ {f"cart-{number}"}
        there = {name: at for at, name in self._cart()}
        if there.keys() - drained:
            self._tell(
                {
                    name: NotifiedContainer(name, f"10.0.0.{at}:80", drained=name in drained)
                    for name, at in there.items()
                }
            )
        if then:
            self._steps(10)

    @rule(then=then, third=st.integers(0, 255))
    def has_new_addresses(self, third: int, then: bool) -> None:
        self._tell({name: NotifiedContainer(name, f"10.2.{third}.{at}:80") for at, name in self._cart()})
        if then:
            self._steps(10)

    @rule(host=st.sampled_from(HOSTS), cpu=st.floats(0, 1))
    def drifts(self, host: str, cpu: float) -> None:
        if self.wrong != "nan":
            self.world.source.cpu[host] = cpu

    @rule(then=then, number=numbers, how=st.sampled_from(["plan", "even", "one", "few"]))
    def calls_so(self, number: int, how: Calling, then: bool) -> None:
        self.world.callers[f"front-{number}"] = how
        if then:
            self._steps(30)

    @rule(wrong=st.sampled_from(["", *WRONG]))
    def becomes(self, wrong: str) -> None:
        self._becomes(wrong)

    def _becomes(self, wrong: str) -> None:
        self.wrong = wrong
        source = self.world.source
        source.trees = [] if wrong == "no trees" else GOOD
        source.problem = OSError("by the test") if wrong == "away" else None
        source.cpu = {**shop().cpu, **({"h0": float("nan"), "h1": float("nan")} if wrong == "nan" else {})}
        self.there = {}

    @rule()
    def calls_back(self) -> None:
        if self.world.source.trees:
            self.world.source.trees = CIRCLE

    @rule(seconds=st.sampled_from([10, 30, 90]))
    def steps(self, seconds: int) -> None:
        self._steps(seconds)

    def _steps(self, seconds: int) -> None:
        self.world.step(seconds)
        self.left_out &= self.world.source.containers["cart"].keys()
        if self.wrong != "away":
            self.there = self._known()

    @rule(call=st.sampled_from(["begin", "send", "send_offset", "commit"]))
    def is_aborted(self, call: str) -> None:
        broker = self.world.loop.shards.membership.broker
        assert isinstance(broker, MemoryBroker)
        left = [call]

        def called(name: str) -> None:
            if name in left:
                left.remove(name)
                raise AbortedError("by the test")

        broker.called = called
        self.world.step()
        broker.called = lambda name: None
        self.there = {}

    @rule()
    def is_killed(self) -> None:
        self.world = self.world.again()

    @precondition(lambda self: self.there and not self.wrong)
    @rule()
    def is_killed_and_continues(self) -> None:
        """The next decider has the same connections, so the same number, where the same containers are there."""
        there, before = self.there, self._connections()
        self.world = self.world.again()
        self._steps(10)
        if self.there == there and self._connections().keys() == before.keys():
            assert self._connections() == before

    def _connections(self) -> dict[SubsetKey, set[str]]:
        return {key: {end.instance for end in subset.endpoints} for key, subset in self.world.subsets.items()}

    @invariant()
    def revisions_never_fall_and_nobody_is_left_without(self) -> None:
        for key, subset in self.world.subsets.items():
            assert subset.revision >= self.revisions.get(key, 0)
            self.revisions[key] = subset.revision
            assert subset.endpoints
            assert [end.instance for end in subset.endpoints] == sorted(end.instance for end in subset.endpoints)
            assert all(end.weight >= 1 for end in subset.endpoints)

    @invariant()
    def after_a_step_all_who_are_there_are_connected_to_those_who_are_whatever_is_wrong(self) -> None:
        if not self.there:
            return
        front, cart = self.there["front"], self.there["cart"]
        subsets = {key: subset for key, subset in self.world.subsets.items() if key.downstream == "cart"}
        assert {key.instance for key in subsets} == front
        for subset in subsets.values():
            if not self.wrong or WRONG[self.wrong]:
                assert (subset.state == subset_pb2.STATE_HELD) == bool(self.wrong)
            ends = {end.instance for end in subset.endpoints}
            assert ends <= cart
            assert len(ends) >= min(2, len(cart))
            if self.told:
                addresses = {end.instance: end.address for end in subset.endpoints if end.instance in self.told}
                assert addresses == {name: self.told[name].address for name in addresses}
        assert {end.instance for subset in subsets.values() for end in subset.endpoints} == cart
        pairs = self.world.subsets
        fewest = {
            "cart": max(len(front) * min(2, len(cart)), len(cart)),
            "front": max(len(cart) * min(2, len(front)), len(front)),
        }
        there = {key.downstream for key in pairs}
        usual = sum(USUAL * len({"cart": front, "front": cart}[down]) for down in there)
        assert sum(len(pair.endpoints) for pair in pairs.values()) <= max(usual, sum(fewest[down] for down in there))
        gone = {name for name, container in self.told.items() if container.drained}
        assert set(self.world.containers["cart"]) - gone == cart
        assert set(self.world.containers["front"]) == front

    @invariant()
    def only_who_has_a_subset_and_once_called_otherwise_counts_as_one_that_does_not_follow(self) -> None:
        self.otherwise |= {name for name, how in self.world.callers.items() if how in ("even", "one")}
        state = self.world.loop.owned[0].parts["subsets"].known.state if self.world.loop.owned else None
        if state is None:
            return
        assert {one.instance for one in state.not_following} <= self.otherwise

    @invariant()
    def what_xds_falls_back_to_is_reachable_where_subsets_are(self) -> None:
        """`assign` of xDS uses these containers, and gives each endpoint its container's address."""
        if not self.there:
            return
        addresses = self.world.addresses
        for key, subset in self.world.subsets.items():
            for end in subset.endpoints:
                assert addresses[key.downstream][end.instance] == end.address

    def _cart(self) -> list[tuple[int, str]]:
        return list(enumerate(sorted(self.world.source.containers["cart"])))

    def _add(self, service: str, name: str, host: str) -> None:
        self.world.clock.pass_s(1)
        self.world.source.containers[service][name] = host
        self.world.source.first_s[name] = self.world.clock() // 1_000
        self.there = {}

    def _tell(self, told: dict[str, NotifiedContainer]) -> None:
        self.world.clock.pass_s(1)
        self.told, self.told_s = told, self.world.clock() // 1_000
        since = {name for name, first_s in self.world.source.first_s.items() if first_s > self.told_s}
        # Of a name that was published before, spans do not show whether it went and came back until the next step.
        older = (self.world.source.containers["cart"].keys() | self.world.containers.get("cart", ())) - since
        self.left_out = (self.left_out | older) - told.keys()
        self.world.log.scaling(Scaling(self.world.clock(), "cart", None, None, "", "test", tuple(told.values())))
        self.there = {}

    def _known(self) -> dict[str, set[str]]:
        """What was told counts more than what was seen, but for those that came since; until its lease ends."""
        source, drained = self.world.source, {name for name, one in self.told.items() if one.drained}
        found = {name: set(container) for name, container in source.containers.items()}
        alive = {name: those - source.silent or those for name, those in found.items()}
        if self.told and self.world.clock() / 1_000 - self.told_s <= LEASE_S:
            since = {name for name in alive["cart"] if source.first_s.get(name, 0) > self.told_s}
            alive["cart"] = (since - self.told.keys() - self.left_out | self.told.keys()) - drained
        elif self.told:
            seen = alive["cart"] - self.left_out or alive["cart"]
            alive["cart"] = seen - drained or seen
        return alive

    def _plan(self, *of):  # type: ignore[no-untyped-def]
        if self.wrong == "fails":
            raise ZeroDivisionError("by the test")
        return plan(*of)

    def _newest(self, newest, *of):  # type: ignore[no-untyped-def]
        if self.wrong == "training fails":
            raise MemoryError("by the test")
        return None if self.wrong == "learning" else newest(*of)


Subsets.TestCase.settings = settings(max_examples=20, stateful_step_count=20, deadline=None)
TestSubsets = Subsets.TestCase


def test_a_name_that_a_report_left_out_and_that_comes_back_before_a_step_stays_out() -> None:
    """Its spans go on, as those of a container that a source no longer names do."""
    machine = Subsets()
    try:
        machine.begin(wrong="")
        machine.has_new_addresses(then=False, third=0)
        machine.is_replaced(service="cart", then=False)
        machine.comes(host="h0", number=0, service="cart", then=True)
        machine.after_a_step_all_who_are_there_are_connected_to_those_who_are_whatever_is_wrong()
        assert "cart-0" not in machine.there["cart"]
        assert "cart-0" in machine.world.source.containers["cart"]
    finally:
        machine.teardown()
