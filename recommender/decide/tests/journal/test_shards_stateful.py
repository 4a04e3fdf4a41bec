"""Two deciders on one journal, by Kafka's rules in memory: at any call to the broker one is killed, paused, put out of
its group, or left without an answer.

A decider's state is how many reports it has used, and its decisions are numbered: so what the journal holds can be
checked.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from sluice.decider.products import codec
from sluice.engine.records import Commit, Heartbeat
from sluice.journal.names import topics
from sluice.journal.shard import AbortedError, FencedError, HungError, Identity, OlderError
from sluice.journal.shards import AGAIN_S, Shards
from sluice.pools.commit import PoolsCommit
from sluice.pools.names import pool_name
from sluice.pools.policy.state import Facts, PoolState
from sluice.pools.policy.state_message import read_facts
from sluice.pools.publication.record import Ref
from sluice.pools.v1.log_pb2 import ObservedSize, Pause, Report, ShardHeartbeat
from sluice.pools.v1.pool_size_pb2 import PoolSize, TargetSize
from sluice_kit.journal.memory_broker import MemoryBroker, MemoryCluster
from sluice_kit.journal.memory_group import MemoryGroup
from sluice_kit.journal.place import SHARDS, SHOP, answer, pool

TOPICS = topics()
COMPACTED = [TOPICS.state, TOPICS.decisions, TOPICS.observed]
STATE = Ref("facts", SHOP)


class Killed(BaseException):
    pass


class Decider:
    """A control loop whose decision is the number of reports that it used so far."""

    def __init__(self, cluster: MemoryCluster, generation: int, clock: Callable[[], float]) -> None:
        self.left, self.then = -1, lambda: None
        self.generation = generation
        self.shards = Shards(
            MemoryBroker(cluster, self._called), TOPICS, Identity("one", SHARDS, generation), codec(), 30, clock
        )
        self._known: dict[int, tuple[int, int]] = {}
        self.told: list[tuple[int, int, int]] = []
        """Of what it was told that it is committed: shard, revision, target."""

    def period(self, targets: Callable[[], int]) -> None:
        change = self.shards.poll(0)
        for shard in change.left:
            del self._known[shard]
        if change.taken is not None:
            log, found = change.taken
            pools = found.parts["pools"]
            revision = pools.decisions[SHOP].revision if SHOP in pools.decisions else 0
            facts = pools.states.facts.get(SHOP, Facts(current=1))
            self._known[log.shard] = revision, (facts.current or 0) - 1
        for shard, log in self.shards.owned.items():
            revision, used = self._known[shard]
            try:
                received = log.received()
                target = targets()
                after = revision + 1, used + len(received.reports)
                state = PoolState(Facts(now_ms=after[0], current=1 + after[1]))
                part = PoolsCommit([answer(after[0], target)], {}, {STATE: state})
                log.commit(Commit(received, Heartbeat(0, 60_000), {"pools": part}))
            except AbortedError:
                continue
            except (FencedError, HungError):
                del self._known[shard]
                self.shards.leave(shard)
                continue
            self._known[shard] = after
            self.told.append((shard, after[0], target))

    def _called(self, call: str) -> None:
        self.left -= 1
        refusable = self.then is not _abort or call in ("send", "send_offset", "commit")
        if refusable and (self.left == 0 or (self.left < 0 and self.then is _kill)):
            self.then()


def _kill() -> None:
    raise Killed


def _abort() -> None:
    raise AbortedError("by the test")


def _lose() -> None:
    raise HungError("by the test")


class TwoDeciders(RuleBasedStateMachine):
    slots = st.integers(0, 1)
    shard_numbers = st.integers(0, SHARDS - 1)

    def __init__(self) -> None:
        super().__init__()
        self.cluster = MemoryCluster(TOPICS, SHARDS)
        self.now = 0.0
        self.targets = itertools.count(1)
        self.seen: dict[tuple[int, int], int] = {}
        self.read_to = dict.fromkeys(range(SHARDS), 0)
        self.dead: list[Decider] = []

    @initialize()
    def begin(self) -> None:
        self.deciders = [self._new(1), self._new(1)]

    def _new(self, generation: int) -> Decider:
        return Decider(self.cluster, generation, self._clock)

    def _clock(self) -> float:
        self.now += 0.01
        return self.now

    @rule(slot=slots)
    def period(self, slot: int) -> None:
        decider = self.deciders[slot]
        try:
            decider.period(lambda: next(self.targets))
        except Killed:
            decider = self.deciders[slot] = self._replaced(slot, decider.generation)
        except OlderError:
            newest = max(each.generation for each in self.deciders)
            assert newest > decider.generation
            self.deciders[slot] = self._replaced(slot, newest)

    def _replaced(self, slot: int, generation: int) -> Decider:
        self.dead.append(self.deciders[slot])
        return self._new(generation)

    @rule(slot=slots, calls=st.integers(1, 40), periods=st.integers(1, 3))
    def killed(self, slot: int, calls: int, periods: int) -> None:
        self._disturbed(slot, calls, _kill, periods)

    @rule(slot=slots, calls=st.integers(1, 40), periods=st.integers(1, 3), what=st.sampled_from([_abort, _lose]))
    def refused(self, slot: int, calls: int, periods: int, what: Callable[[], None]) -> None:
        self._disturbed(slot, calls, what, periods)

    @rule(
        slot=slots, calls=st.integers(1, 40), periods=st.integers(1, 3), others=st.integers(1, 4), put_out=st.booleans()
    )
    def paused(self, slot: int, calls: int, periods: int, others: int, put_out: bool) -> None:
        """The other one does what it can meanwhile, with the shards of the one that is paused where that is put out."""

        def meanwhile() -> None:
            if put_out:
                self.put_out(slot)
            for _ in range(others):
                self.period(1 - slot)

        self._disturbed(slot, calls, meanwhile, periods)

    def _disturbed(self, slot: int, calls: int, what: Callable[[], None], periods: int) -> None:
        decider = self.deciders[slot]
        decider.left, decider.then = calls, what
        for _ in range(periods):
            if self.deciders[slot] is decider:
                self.period(slot)
        if self.deciders[slot] is decider:
            decider.left, decider.then = -1, lambda: None

    @rule(slot=slots)
    def put_out(self, slot: int) -> None:
        """Its session is over, and it has not heard of it."""
        self._end_session(self.deciders[slot])

    def _end_session(self, decider: Decider) -> None:
        group = decider.shards._group
        if isinstance(group, MemoryGroup):
            self.cluster.members.leave(group.member)

    @rule(slot=slots)
    def upgraded(self, slot: int) -> None:
        """Killed, and begun anew with a newer configuration."""
        self.deciders[slot] = self._replaced(slot, self.deciders[slot].generation + 1)

    @rule(shard=shard_numbers)
    def timed_out(self, shard: int) -> None:
        self.cluster.time_out(shard)

    @rule()
    def waited(self) -> None:
        self.now += AGAIN_S

    @rule(shard=shard_numbers, number=st.integers(0, 4))
    def report(self, shard: int, number: int) -> None:
        """A new one, or one that may have been told before."""
        told = Report(request_id=str(number), pause=Pause(pool=pool(SHOP), paused=True))
        self.cluster.partitions[TOPICS.reports, shard].append(pool_name(SHOP), told.SerializeToString())

    @rule(shard=shard_numbers, size=st.integers(1, 9))
    def observed(self, shard: int, size: int) -> None:
        told = ObservedSize(pool=pool(SHOP), size=TargetSize(size=size))
        self.cluster.partitions[TOPICS.observed, shard].append("target/shop/server//", told.SerializeToString())

    @rule(
        shard=shard_numbers,
        topic=st.sampled_from([TOPICS.state, TOPICS.decisions, TOPICS.observed]),
        last=st.booleans(),
    )
    def compacted(self, shard: int, topic: str, last: bool) -> None:
        partition = self.cluster.partitions[topic, shard]
        partition.compact(partition.end if last else partition.end // 2)

    @invariant()
    def what_the_log_holds_is_consistent(self) -> None:
        for shard in range(SHARDS):
            self.cluster.settle(shard)
            newest = self._read(shard)
            # The decision, the state and the offset are of one transaction.
            assert self._held(shard) == (newest, self._told(shard, self.cluster.offsets.get(shard, 0)))

    def _told(self, shard: int, before: int) -> int:
        """How many reports there are before an offset: one that was told again counts once."""
        records = self.cluster.partitions[TOPICS.reports, shard].committed(0)
        return len({Report.FromString(each.value or b"").request_id for each in records if each.offset < before})

    def _read(self, shard: int) -> int:
        """The newest revision. None has two contents, and none is left out."""
        partition = self.cluster.partitions[TOPICS.decisions, shard]
        for record in partition.committed(self.read_to[shard]):
            if record.key.startswith("pool/"):
                size = PoolSize.FromString(record.value or b"")
                assert (shard, size.revision) not in self.seen
                assert size.revision == 1 or (shard, size.revision - 1) in self.seen
                self.seen[shard, size.revision] = size.target
        self.read_to[shard] = partition.stable
        return max((revision for of, revision in self.seen if of == shard), default=0)

    def _held(self, shard: int) -> tuple[int, int]:
        """The revision and the number of reports of the state that the journal holds."""
        records = self.cluster.partitions[TOPICS.state, shard].committed(0)
        facts = read_facts(SHOP, records[-1].value or b"") if records else Facts(current=1)
        return facts.now_ms, (facts.current or 0) - 1

    @invariant()
    def generations_do_not_fall(self) -> None:
        for shard in range(SHARDS):
            records = self.cluster.partitions[TOPICS.decisions, shard].committed(0)
            beats = [ShardHeartbeat.FromString(each.value or b"") for each in records if each.key.startswith("shard/")]
            generations = [beat.generation for beat in beats]
            assert generations == sorted(generations)

    def teardown(self) -> None:
        """When all is quiet, everything that was told is used, and what deciders were told is true."""
        if not hasattr(self, "deciders"):
            return
        for decider in self.dead:
            self._end_session(decider)
        for _ in range(8):
            self.now += AGAIN_S
            for slot in range(2):
                self.period(slot)
        self.what_the_log_holds_is_consistent()
        for shard in range(SHARDS):
            end = self.cluster.partitions[TOPICS.reports, shard].end
            assert self.cluster.offsets.get(shard, 0) == end
            assert self._held(shard)[1] == self._told(shard, end)
        for decider in (*self.dead, *self.deciders):
            for shard, revision, target in decider.told:
                assert self.seen[shard, revision] == target


TestTwoDeciders = TwoDeciders.TestCase
TestTwoDeciders.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
