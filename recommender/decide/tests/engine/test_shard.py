"""The engine with products that it does not know: a shard of three of them, and their codec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from sluice.engine.codec import DeciderCodec
from sluice.engine.product import ProductShard, Proposal, Takeover
from sluice.engine.records import Commit, Heartbeat, Received, ShardValues
from sluice.engine.shard import Shard
from sluice.journal.broker import Record
from sluice.journal.codec import Input, UnreadableError, Write
from sluice.journal.names import Topics, shard_name, topics
from sluice.journal.shard import HungError, Identity

TOPICS = topics()
RECEIVED = Received({}, ["urgent"], 7)


class Part:
    """A product on one shard. It proposes `records`, and fails while `problem` is set."""

    def __init__(self, takeover: Takeover, records: Any) -> None:
        self.takeover, self.records = takeover, records
        self.problem: Exception | None = None
        self.independent = False
        self.calls: list[str] = []

    def configure(self, config: Any) -> None:
        self.calls.append(f"configure {config}")

    def hear(self, received: Received, now_ms: int) -> bool:
        self.calls.append("hear")
        return self.records in received.reports

    def propose(self, received: Received, now_ms: int) -> Proposal:
        self.calls.append(f"propose {now_ms}")
        if self.problem is not None:
            raise self.problem
        return Proposal(self.records, [f"lease of {self.records}"] if self.records else ())

    def committed(self, heartbeat: Heartbeat, written: bool) -> None:
        self.calls.append(f"committed {heartbeat.lease_ms} {written}")

    def aborted(self) -> None:
        self.calls.append("aborted")


class Fruit:
    def __init__(self, name: str, records: Any) -> None:
        self.name, self._records = name, records

    def start(self, config: Any) -> None: ...

    def restore(self, takeover: Takeover) -> Part:
        return Part(takeover, self._records)

    def measure(self, shards: Iterable[ProductShard]) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def shard() -> Shard:
    products = Fruit("apple", "a"), Fruit("pear", None), Fruit("plum", "urgent")
    return Shard(products, "config", ShardValues({"apple": 1, "plum": 3}, "beat", 0), 5)


def part(shard: Shard, name: str) -> Part:
    found = shard.parts[name]
    assert isinstance(found, Part)
    return found


def test_each_product_restores_its_part_and_sees_those_before_it(shard: Shard) -> None:
    assert [part(shard, name).takeover.part for name in shard.parts] == [1, None, 3]
    assert [list(part(shard, name).takeover.others) for name in shard.parts] == [[], ["apple"], ["apple", "pear"]]
    assert {part(shard, name).takeover.heartbeat for name in shard.parts} == {"beat"}


def test_all_products_hear_an_input_and_one_makes_it_urgent(shard: Shard) -> None:
    assert shard.hear(RECEIVED, 0)
    assert not shard.hear(Received({}, [], 8), 0)
    assert [part(shard, name).calls for name in shard.parts] == [["hear", "hear"]] * 3


def test_a_commit_has_the_records_and_leases_of_all(shard: Shard) -> None:
    commit = shard.period(RECEIVED, 1_000, 30_000)
    beat = Heartbeat(1_000, 30_000, ["lease of a", "lease of urgent"])
    assert commit == Commit(RECEIVED, beat, {"apple": "a", "plum": "urgent"})
    shard.committed(commit, True)
    assert part(shard, "pear").calls == ["propose 1000", "committed 30000 True"]


def test_a_product_that_fails_takes_back_the_proposals_before_it(shard: Shard) -> None:
    part(shard, "pear").problem = ConnectionError("no database")
    with pytest.raises(ConnectionError, match="no database"):
        shard.period(RECEIVED, 1_000, 30_000)
    assert part(shard, "apple").calls == ["propose 1000", "aborted"]
    assert part(shard, "plum").calls == []


def test_an_independent_product_commits_beside_one_that_fails_and_renews_no_lease(shard: Shard) -> None:
    """A lease of 30 s from 100 s on has 10 s left at 120 s, and 1 ms, the least, once it is over."""
    shard.committed(shard.period(RECEIVED, 100_000, 30_000), True)
    problem = part(shard, "apple").problem = ConnectionError("no database")
    part(shard, "plum").independent = True
    leases = ["lease of a", "lease of urgent"]
    commit = shard.period(RECEIVED, 120_000, 30_000)
    assert commit == Commit(RECEIVED, Heartbeat(100_000, 10_000, leases), {"plum": "urgent"}, problem)
    assert not commit.uses_inputs
    shard.committed(commit, True)
    assert part(shard, "plum").calls[2:] == ["propose 120000", "committed 10000 True"]
    assert part(shard, "pear").calls[2:] == [], "it needs leases, and inputs that are used"
    assert shard.period(RECEIVED, 140_000, 30_000).heartbeat == Heartbeat(100_000, 1, leases)


def test_proposals_that_need_leases_are_taken_back_where_a_later_product_fails(shard: Shard) -> None:
    shard.committed(shard.period(RECEIVED, 100_000, 30_000), True)
    part(shard, "pear").problem = ConnectionError("no database")
    part(shard, "plum").independent = True
    assert shard.period(RECEIVED, 101_000, 30_000).parts == {"plum": "urgent"}
    assert part(shard, "apple").calls[2:] == ["propose 101000", "aborted"]


def test_without_a_heartbeat_or_without_records_the_failure_is_raised(shard: Shard) -> None:
    part(shard, "apple").problem = ConnectionError("no database")
    part(shard, "plum").independent = True
    with pytest.raises(ConnectionError):
        shard.period(RECEIVED, 1_000, 30_000)
    assert part(shard, "plum").calls == ["propose 1000", "aborted"]
    part(shard, "apple").problem, part(shard, "plum").records = None, None
    shard.committed(shard.period(RECEIVED, 2_000, 30_000), True)
    part(shard, "apple").problem = ConnectionError("no database")
    with pytest.raises(ConnectionError):
        shard.period(RECEIVED, 3_000, 30_000)


def test_a_shard_that_hangs_commits_nothing(shard: Shard) -> None:
    shard.committed(shard.period(RECEIVED, 1_000, 30_000), True)
    part(shard, "pear").problem = HungError("gone")
    part(shard, "plum").independent = True
    with pytest.raises(HungError):
        shard.period(RECEIVED, 2_000, 30_000)
    assert part(shard, "apple").calls[-1] == "aborted"


class Initial:
    """Owns the keys that begin with its letter; its part is its values."""

    def __init__(self, letter: str) -> None:
        self._letter = letter

    def owns(self, key: str) -> bool:
        return key.startswith(self._letter)

    def part(self, states: Mapping[str, Any], decisions: Mapping[str, Any], observed: Mapping[str, Any]) -> Any:
        return (dict(states), dict(decisions), dict(observed)), int("bad" in states.values())

    def observed(self, record: Record) -> Input:
        return Input((self._letter, record.value), None)

    def report(self, record: Record) -> Input | None:
        return Input(self._letter, None)

    def writes(self, part: Any, topics: Topics) -> Iterator[Write | ValueError]:
        yield Write(topics.state, self._letter, part)


class Beats:
    def read(self, name: str, value: bytes) -> Any:
        if value == b"bad":
            raise UnreadableError(f"{name} is bad")
        return Identity("one", 1, int(value))

    def beat(self, message: Identity) -> Heartbeat:
        return Heartbeat(1_000 * message.generation, 30_000)

    def value(self, shard: int, me: Identity, beat: Heartbeat) -> bytes:
        return b"beat"


CODEC = DeciderCodec({"apple": Initial("a"), "pear": Initial("p")}, Beats())


def test_records_go_to_the_product_that_owns_the_key_and_others_are_counted() -> None:
    decisions = {"p2": b"2", shard_name(0): b"4", "x": b"nobody's"}
    values = CODEC.values(0, {"a1": "bad", "p1": "1"}, decisions, {"a3": "3"})  # type: ignore[dict-item]
    assert values.parts == {"apple": ({"a1": "bad"}, {}, {"a3": "3"}), "pear": ({"p1": "1"}, {"p2": b"2"}, {})}
    assert (values.generation, values.left_out) == (4, 2), "one is bad, one is nobody's"
    assert values.beat == Heartbeat(4_000, 30_000)


def test_a_bad_heartbeat_is_counted_and_stands_for_none() -> None:
    values = CODEC.values(0, {}, {shard_name(0): b"bad"}, {})
    assert (values.heartbeat, values.beat, values.generation, values.left_out) == (None, None, 0, 1)


def test_an_input_is_read_by_the_owner_of_its_key() -> None:
    assert CODEC.report(Record(TOPICS.reports, 0, "p1", b"")) == Input("p", None)
    with pytest.raises(UnreadableError, match="no product owns this key"):
        CODEC.observed(Record(TOPICS.observed, 0, "x", b""))


def test_writes_have_the_order_of_the_codecs() -> None:
    commit = Commit(RECEIVED, Heartbeat(0, 1), {"pear": b"2", "apple": b"1"})
    assert list(CODEC.writes(commit, TOPICS)) == [
        Write(TOPICS.state, "a", b"1"),
        Write(TOPICS.state, "p", b"2"),
    ]
