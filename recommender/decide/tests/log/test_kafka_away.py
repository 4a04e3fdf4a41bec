"""A broker that does not answer, a topic that is not there: said, counted, and nobody waits for it."""

import os
import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Producer

from sluice.control.state_log import NotThereError
from sluice.core.keys import PoolKey
from sluice.log.kafka import KafkaStateLog
from sluice.log.record import Ref, value_of
from sluice.pools.policy.state import Facts, PoolState
from support.kafka import Kafka
from support.ports import free_ports
from support.waiting import until

pytestmark = pytest.mark.integration
SHOP, CART = PoolKey("shop", "server", ""), PoolKey("cart", "client", "db")
WAIT_S = 60.0


def state(current: int) -> PoolState:
    return PoolState(Facts(now_ms=1_000, current=current))


@contextmanager
def stopped(broker: Kafka) -> Iterator[None]:
    """It takes connections and answers nothing."""
    os.kill(broker.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(broker.process.pid, signal.SIGCONT)


def test_no_topic_is_not_an_empty_log(broker: Kafka) -> None:
    log = KafkaStateLog(broker.bootstrap, "never-created")
    with pytest.raises(NotThereError, match=r"read never-created: .*[Uu]nknown topic"):
        log.restore()


def test_no_broker_is_not_an_empty_log() -> None:
    (port,) = free_ports(1)
    log = KafkaStateLog(f"127.0.0.1:{port}", restore_s=1.0)
    with pytest.raises(NotThereError, match="read sluice_state: "):
        log.restore()


def test_a_broker_that_answers_too_late_is_not_an_empty_log_and_the_next_try_succeeds(broker: Kafka) -> None:
    topic = broker.topic(f"state-{uuid.uuid4().hex}", like="sluice_state")
    log = KafkaStateLog(broker.bootstrap, topic, restore_s=1.0)
    with stopped(broker), pytest.raises(NotThereError):
        log.restore()
    assert KafkaStateLog(broker.bootstrap, topic).restore() == {}


def test_decisions_go_on_while_the_broker_is_away_and_the_newest_states_are_written_then(
    broker: Kafka, caplog: pytest.LogCaptureFixture
) -> None:
    topic = broker.topic(f"state-{uuid.uuid4().hex}", like="sluice_state")
    log = KafkaStateLog(broker.bootstrap, topic)
    log.start()
    log.restore()
    log.record({SHOP: state(1)})
    assert log.flush(WAIT_S)
    with stopped(broker):
        for current in range(2, 1_000):
            log.record({SHOP: state(current), CART: state(current)})
        assert not log.flush(0.1)
        assert log.counts.waiting == 2
        until("the failure is counted", lambda: log.counts.failures > 0)
        assert f"write to {topic} failed, going on" in caplog.text
    assert log.flush(WAIT_S)
    assert log.counts.failures == 0
    assert KafkaStateLog(broker.bootstrap, topic).restore() == {SHOP: state(999), CART: state(999)}
    assert log.close(0.0)


def test_a_topic_that_comes_later_gets_what_waits(broker: Kafka) -> None:
    topic = f"state-{uuid.uuid4().hex}"
    log = KafkaStateLog(broker.bootstrap, topic)
    log.start()
    log.record({SHOP: state(1)})
    assert not log.flush(0.5)
    broker.topic(topic, like="sluice_state")
    assert log.flush(WAIT_S)
    assert KafkaStateLog(broker.bootstrap, topic).restore() == {SHOP: state(1)}
    assert log.close(0.0)


def test_a_log_ends_though_the_broker_is_away(broker: Kafka) -> None:
    topic = broker.topic(f"state-{uuid.uuid4().hex}", like="sluice_state")
    log = KafkaStateLog(broker.bootstrap, topic)
    log.start()
    with stopped(broker):
        log.record({SHOP: state(1)})
        assert not log.close(0.2)


def test_what_a_transaction_gave_up_is_not_restored(broker: Kafka) -> None:
    """Its records and both ends of transactions take offsets: the topic ends behind the last record that counts."""
    topic = broker.topic(f"state-{uuid.uuid4().hex}", like="sluice_state")
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": topic})
    producer.init_transactions(WAIT_S)
    ref = Ref("facts", SHOP)
    for current, end in [(1, producer.commit_transaction), (2, producer.abort_transaction)]:
        producer.begin_transaction()
        producer.produce(topic, value_of(ref, state(current)), str(ref).encode(), partition=0)
        producer.flush(WAIT_S)
        end(WAIT_S)
    assert KafkaStateLog(broker.bootstrap, topic).restore() == {SHOP: state(1)}
