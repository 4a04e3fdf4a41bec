"""What a shard's log has to hold, in memory and on a real broker."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest
from confluent_kafka import Producer

from sluice.journal.kafka_broker import KafkaBroker
from sluice.journal.names import topics
from sluice.journal.shard import FencedError, OlderError, PartitionsError
from sluice.pools.policy.state import PoolState
from sluice.pools.publication.record import Ref
from sluice.pools.v1.evidence_pb2 import Explanation, Threshold
from sluice.pools.v1.log_pb2 import ShardHeartbeat
from sluice.pools.v1.pool_size_pb2 import STATE_DELETED, PoolSize
from sluice.subsets.names import SUBSET
from sluice_kit.journal.memory_broker import MemoryBroker, MemoryCluster
from sluice_kit.journal.place import CART, SHARDS, SHOP, WAIT_S, Place, answer, facts, period, pools_of, received, taken
from sluice_kit.servers.kafka import Broker
from sluice_kit.waiting import until


def memory(_: pytest.FixtureRequest) -> Place:
    names = topics()
    cluster = MemoryCluster(names, SHARDS)

    def put(topic: str, shard: int, key: str, value: bytes) -> None:
        cluster.partitions[topic, shard].append(key, value)

    return Place(names, lambda: MemoryBroker(cluster), put, [])


def on_kafka(request: pytest.FixtureRequest) -> Place:
    broker: Broker = request.getfixturevalue("broker")
    names = topics(f"{uuid.uuid4().hex[:8]}_")
    broker.log(names.state.removesuffix("state"), SHARDS)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0})

    def put(topic: str, shard: int, key: str, value: bytes) -> None:
        producer.produce(topic, value, key, partition=shard)
        assert producer.flush(WAIT_S) == 0

    return Place(names, lambda: KafkaBroker(broker.bootstrap, names), put, [])


@pytest.fixture(params=[memory, pytest.param(on_kafka, marks=pytest.mark.integration)], ids=["memory", "kafka"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    place = request.param(request)
    yield place
    place.close()


def test_a_new_shard_has_nothing_and_what_is_committed_is_there_for_the_next(place: Place) -> None:
    one = place.decider("one")
    (log, found), *_ = taken(one).values()
    pools = pools_of(found)
    assert (pools.decisions, pools.observed, found.heartbeat, pools.states.states()) == ({}, {}, None, {})
    place.report(log.shard, "a")
    place.observe(log.shard, 7)
    came = received(log, reports=1, observed=1)
    gone = PoolSize(pool=answer(9, 0, CART).pool, revision=9, state=STATE_DELETED)
    assert log.commit(period(came, [answer(1, 8), gone], facts(8)))
    place.report(log.shard, "b")
    one.close()

    log, found = taken(place.decider("two"))[log.shard]
    assert pools_of(found).decisions == {SHOP: answer(1, 8), CART: gone}
    assert {key: state.facts.current for key, state in pools_of(found).states.states().items()} == {SHOP: 8}
    assert [size.size.size for size in pools_of(found).observed.values()] == [7]
    assert found.heartbeat is not None
    assert (found.heartbeat.decider, found.heartbeat.generation, found.heartbeat.shards) == ("one", 1, SHARDS)
    assert [each.request_id for each in received(log, reports=1).reports] == ["b"]


def test_a_heartbeat_ends_each_transaction_and_no_lease_is_written(place: Place) -> None:
    (log, _), *_ = taken(place.decider("one")).values()
    leased = answer(1, 8)
    leased.valid_until.FromSeconds(5)
    log.commit(period(log.received(), [leased], facts(8)))
    log.commit(period(log.received(), [answer(2, 9)]))
    records = place.committed(place.topics.decisions, log.shard)
    assert [each.key for each in records] == ["pool/shop/server/", f"shard/{log.shard}"] * 2
    assert PoolSize.FromString(records[0].value or b"") == answer(1, 8)
    beat = ShardHeartbeat.FromString(records[-1].value or b"")
    assert (beat.shard, beat.lease.ToSeconds()) == (log.shard, 60)


def test_nothing_new_is_no_transaction_and_a_report_alone_is_one(place: Place) -> None:
    (log, _), *_ = taken(place.decider("one")).values()
    assert log.commit(period(log.received()))
    assert not log.commit(period(log.received()))
    place.report(log.shard, "a")
    assert log.commit(period(received(log, reports=1)))
    assert not log.commit(period(received(log, reports=0)))
    assert len(place.committed(place.topics.decisions, log.shard)) == 2


def test_a_commit_that_uses_no_inputs_writes_its_records_and_gets_the_inputs_again(place: Place) -> None:
    one = place.decider("one")
    (log, _), *_ = taken(one).values()
    assert log.commit(period(log.received()))
    place.report(log.shard, "a")
    place.observe(log.shard, 7)
    failed = ConnectionError("no database")
    came = received(log, reports=1, observed=1)
    assert not log.commit(replace(period(came), failure=failed)), "nothing changed"
    assert log.commit(replace(period(came, [answer(1, 8)]), failure=failed))
    again = received(log, reports=1, observed=1)
    assert (again.reports, again.observed) == (came.reports, came.observed)
    assert [each.key for each in place.committed(place.topics.decisions, log.shard)][1:] == [
        "pool/shop/server/",
        f"shard/{log.shard}",
    ]
    one.close()
    log, _ = taken(place.decider("two"))[log.shard]
    assert [each.request_id for each in received(log, reports=1).reports] == ["a"]


def test_what_is_not_committed_comes_again(place: Place) -> None:
    (log, _), *_ = taken(place.decider("one")).values()
    place.report(log.shard, "a")
    place.observe(log.shard, 7)
    before = received(log, reports=1, observed=1)
    place.report(log.shard, "b")
    place.observe(log.shard, 8)
    assert len(received(log, reports=2, observed=1).reports) == 2
    log.commit(period(before))
    left = received(log, reports=1, observed=1)
    assert [each.request_id for each in left.reports] == ["b"]
    assert [each.size.size for each in left.observed.values()] == [8]


def test_a_report_that_is_told_again_counts_once_also_over_a_takeover(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    one = place.decider("one")
    (log, _), *_ = taken(one).values()
    place.put(place.topics.reports, log.shard, f"{SUBSET}a/b", b"\xff")  # a delivery, which is of others
    for request_id, by in (("a", "ann"), ("b", "ann"), ("a", "ann"), ("a", "bob"), ("", "ann"), ("", "ann")):
        place.report(log.shard, request_id, by=by)
    came = received(log, reports=5)
    assert [(each.request_id, each.by) for each in came.reports] == [
        ("a", "ann"),
        ("b", "ann"),
        ("a", "bob"),
        ("", "ann"),
        ("", "ann"),
    ]
    # What was not committed comes again, and is no repeat of itself.
    assert received(log, reports=5).reports == came.reports
    log.commit(period(came))
    place.report(log.shard, "c", by="ann")
    received(log, reports=1)
    one.close()

    log, _ = taken(place.decider("two"))[log.shard]
    for request_id, by in (("b", "ann"), ("c", "ann"), ("d", "ann")):
        place.report(log.shard, request_id, by=by)
    assert [each.request_id for each in received(log, reports=2).reports] == ["c", "d"]
    assert "skipped a record" not in caplog.text


def test_a_size_that_is_told_again_is_no_news_also_over_a_takeover(place: Place) -> None:
    """An actuator wrote 7, heard no answer, wrote 8, and tells of 7 again."""
    one = place.decider("one")
    (log, _), *_ = taken(one).values()
    place.observe(log.shard, 7, request_id="a", at_s=1)
    place.report(log.shard, "a", at_s=1)
    place.observe(log.shard, 8, request_id="b", at_s=2)
    place.report(log.shard, "b", at_s=2)
    came = received(log, reports=2, observed=1)
    place.observe(log.shard, 7, request_id="a", at_s=3)
    place.report(log.shard, "a", at_s=3)
    place.report(log.shard, "c", at_s=4)
    came = received(log, reports=3, observed=1)
    assert [each.size.size for each in came.observed.values()] == [8]
    log.commit(period(came))
    one.close()

    log, found = taken(place.decider("two"))[log.shard]
    assert [each.size.size for each in pools_of(found).observed.values()] == [8]
    place.observe(log.shard, 8, request_id="b", at_s=5)
    place.report(log.shard, "b", at_s=5)
    place.observe(log.shard, 9, at_s=6)
    came = received(log, reports=0, observed=1)
    assert [each.size.size for each in came.observed.values()] == [9]


def test_what_cannot_be_written_or_read_costs_that_record(place: Place) -> None:
    one = place.decider("one")
    (log, _), *_ = taken(one).values()
    states = facts(8) | {Ref("facts", CART): PoolState(facts(0)[Ref("facts", SHOP)].facts)}
    place.put(place.topics.reports, log.shard, "pool/shop/server/", b"\xff")
    place.report(log.shard, "a")
    commit = period(received(log, reports=1), [answer(1, 8)], states)
    large = Explanation(threshold=Threshold(detail="x" * 16_384))
    part = replace(commit.parts["pools"], explanations={SHOP: large})
    log.commit(replace(commit, parts={"pools": part}))
    assert log.left_out == 3
    one.close()
    _, found = taken(place.decider("two"))[log.shard]
    assert pools_of(found).states.states().keys() == {SHOP}
    assert pools_of(found).decisions == {SHOP: answer(1, 8)}
    assert place.committed(place.topics.explanations, log.shard) == []


def test_one_that_lost_its_shard_writes_nothing(place: Place) -> None:
    """Another takes it while the first, which has not heard of it, goes on."""
    one = place.decider("one")
    logs = {shard: log for shard, (log, _) in taken(one).items()}
    for log in logs.values():
        log.commit(period(log.received(), [answer(1, 8)], facts(8)))
    place.writer(one, shard=0)
    place.report(0, "a")
    with pytest.raises(FencedError):
        logs[0].commit(period(received(logs[0], reports=1), [answer(2, 99)], facts(99)))
    with pytest.raises(FencedError):
        logs[0].commit(period(logs[0].received(), [answer(2, 99)]))
    records = place.committed(place.topics.decisions, 0)
    assert [each.key for each in records] == ["pool/shop/server/", "shard/0"]
    assert len(place.committed(place.topics.state, 0)) == 1
    one.leave(0)
    assert one.owned.keys() == {1}


def test_a_writer_that_is_fenced_amid_a_transaction_hears_it_from_any_call(place: Place) -> None:
    """The client may hear of it between two records, and then it refuses the second before the broker is asked."""
    one = place.decider("one")
    (log, _), *_ = taken(one).values()
    fenced = place.writer(one, log.shard)
    fenced.begin()
    fenced.send(place.topics.decisions, "pool/shop/server/", answer(2, 98).SerializeToString())
    place.writer(one, log.shard)

    def refused() -> bool:
        try:
            fenced.send(place.topics.decisions, "pool/shop/server/", answer(2, 99).SerializeToString())
        except FencedError:
            return True
        return False

    until("a refused record", refused)
    with pytest.raises(FencedError):
        fenced.commit()


def test_two_deciders_share_the_shards_and_one_that_leaves_gives_them_away(place: Place) -> None:
    one = place.decider("one")
    for log, _ in taken(one).values():
        log.commit(period(log.received(), [answer(1 + log.shard, 8)]))
    two = place.decider("two")
    found = {}
    while not two.owned or len(one.owned) != 1:
        one.poll(0.1)
        if (change := two.poll(0.1).taken) is not None:
            found[change[0].shard] = change
    assert one.owned.keys() | two.owned.keys() == {0, 1}
    for shard, (log, held) in found.items():
        assert pools_of(held).decisions == {SHOP: answer(1 + shard, 8)}
        log.commit(period(log.received(), [answer(5, 9)]))
    for log in one.owned.values():
        log.commit(period(log.received(), [answer(6, 9)]))
    (kept,) = one.owned
    one.close()
    assert pools_of(taken(two)[kept][1]).decisions == {SHOP: answer(6, 9)}


def test_an_older_configuration_takes_no_shard(place: Place) -> None:
    new = place.decider("new", generation=2)
    for log, _ in taken(new).values():
        if log.shard == 1:
            log.commit(period(log.received()))
    with pytest.raises(OlderError, match="configuration 2; this decider has 1"):
        place.decider("old", generation=1).poll(0.1)
    new.close()
    taken(place.decider("as new", generation=2))


def test_another_number_of_partitions_is_refused(place: Place) -> None:
    with pytest.raises(PartitionsError, match="it has 2 partitions, but 3 shards are configured"):
        place.decider("one", shards=3).poll(0.1)
    nowhere = place._replace(topics=topics(f"{uuid.uuid4().hex}_"))
    with pytest.raises(PartitionsError, match="it does not exist"):
        nowhere.decider("one").poll(0.1)


def test_an_old_state_is_not_read_where_a_transaction_is_still_open(place: Place) -> None:
    """The killed one's transaction is ended by the next one's, and what it wrote does not count."""
    one = place.decider("one")
    (log, _), *_ = taken(one).values()
    log.commit(period(log.received(), [answer(1, 8)], facts(8)))
    killed = place.writer(one, log.shard)
    killed.begin()
    killed.send(place.topics.decisions, "pool/shop/server/", answer(2, 99).SerializeToString())
    one.leave(log.shard)
    one.close()
    log, found = taken(place.decider("two"))[log.shard]
    assert pools_of(found).decisions == {SHOP: answer(1, 8)}
    assert log.commit(period(log.received(), [answer(2, 9)]))


def test_the_end_is_behind_what_is_not_decided_and_a_reader_waits_before_it(place: Place) -> None:
    one = place.decider("one")
    (log, _), *_ = taken(one).values()
    topic, shard = place.topics.decisions, log.shard
    log.commit(period(log.received(), [answer(1, 8)]))
    writer, broker = place.writer(one, shard), place.broker()
    place.opened.append(broker.close)
    before = broker.end(topic, shard)
    writer.begin()
    writer.send(topic, "pool/shop/server/", answer(2, 9).SerializeToString())
    until("it is written", lambda: broker.end(topic, shard) > before)
    reader = broker.reader(shard, {topic: 0})
    place.opened.append(reader.close)
    found = []
    until("it comes to an end", lambda: found.extend(reader.read(0.2)) is None and reader.at_end(topic))
    assert [each.key for each in found] == ["pool/shop/server/", f"shard/{shard}"]
    assert reader.position(topic) == before < broker.end(topic, shard)
    writer.abort()
    until("it passes what was aborted", lambda: reader.read(0.2) == [] and reader.position(topic) == before + 2)
