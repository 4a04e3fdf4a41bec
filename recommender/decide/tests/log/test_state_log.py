"""What every `StateLog` has to hold, on each of them: the one in memory, and the one on a real broker."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from confluent_kafka import Producer

from sluice.control.state_log import StateLog
from sluice.core.keys import PoolKey
from sluice.log.kafka import KafkaStateLog
from sluice.log.memory import MemoryStateLog
from sluice.log.record import Ref
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from support.kafka import Kafka

SHOP, CART = PoolKey("shop", "server", ""), PoolKey("cart/eu", "client", "db")
WAIT_S = 60.0


class Place:
    """Where states are kept. `opened`: a log as a new process has it; `put`: a record that somebody else wrote."""

    def __init__(self, opened: Callable[[], StateLog], put: Callable[[str, bytes | None], None]) -> None:
        self._opened, self.put = opened, put
        self._ending = ExitStack()

    def opened(self) -> StateLog:
        log = self._opened()
        self._ending.callback(log.close, 0.0)
        return log

    def end(self) -> None:
        self._ending.close()


def memory(_: pytest.FixtureRequest) -> Place:
    records: dict[str, bytes] = {}

    def put(name: str, value: bytes | None) -> None:
        if value is None:
            records.pop(name, None)
        else:
            records[name] = value

    return Place(lambda: MemoryStateLog(records), put)


def on_kafka(request: pytest.FixtureRequest) -> Place:
    broker: Kafka = request.getfixturevalue("broker")
    topic = broker.topic(f"state-{uuid.uuid4().hex}", like="sluice_state")

    def opened() -> StateLog:
        log = KafkaStateLog(broker.bootstrap, topic)
        log.start()
        return log

    def put(name: str, value: bytes | None) -> None:
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        producer.produce(topic, value, name.encode(), partition=0)
        assert producer.flush(WAIT_S) == 0

    return Place(opened, put)


@pytest.fixture(params=[memory, pytest.param(on_kafka, marks=pytest.mark.integration)], ids=["memory", "kafka"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    place = request.param(request)
    yield place
    place.end()


def state(now_ms: int, current: int = 10, until_ms: int = -1) -> PoolState:
    return PoolState(Facts(now_ms=now_ms, current=current), Learnt(until_ms=until_ms))


def test_an_empty_log_has_no_states(place: Place) -> None:
    assert place.opened().restore() == {}


def test_what_was_flushed_is_there_for_the_next_process(place: Place) -> None:
    log = place.opened()
    log.restore()
    probing = state(1_000)
    probing = replace(probing, facts=replace(probing.facts, change=Change(8, 10, 900, Basis.PROBE), baseline=8))
    log.record({SHOP: probing, CART: state(1_000, current=3)})
    assert log.flush(WAIT_S)
    assert log.counts.waiting == 0
    # Not closed: as after a kill.
    assert place.opened().restore() == {SHOP: probing, CART: state(1_000, current=3)}


def test_of_each_part_the_newest_counts(place: Place) -> None:
    log = place.opened()
    log.restore()
    for now in range(0, 200_000, 1_000):
        log.record({SHOP: state(now, current=1 + now // 50_000, until_ms=now)})
    assert log.flush(WAIT_S)
    found = place.opened().restore()[SHOP]
    assert found.facts.current == 4
    # Evidence is at most a minute old, and so is the time.
    assert 199_000 - 60_000 <= found.learnt.until_ms <= 199_000
    assert found.facts.now_ms == max(150_000, found.learnt.until_ms)


def test_a_process_goes_on_from_what_it_restored(place: Place) -> None:
    first = place.opened()
    first.restore()
    first.record({SHOP: state(1_000)})
    assert first.close(WAIT_S)
    second = place.opened()
    assert second.restore() == {SHOP: state(1_000)}
    second.record({SHOP: state(2_000, current=11), CART: state(2_000, current=3)})
    assert second.close(WAIT_S)
    assert place.opened().restore() == {SHOP: state(2_000, current=11), CART: state(2_000, current=3)}


def test_a_record_that_cannot_be_read_costs_that_one_only(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    log = place.opened()
    log.restore()
    log.record({SHOP: state(1_000), CART: state(1_000)})
    assert log.flush(WAIT_S)
    place.put(str(Ref("facts", CART)), b"\xff")
    log = place.opened()
    assert log.restore() == {SHOP: state(1_000)}
    assert log.counts.unreadable == 1
    assert "cart/eu/client/db" in caplog.text
    # The next facts of that pool take its place.
    log.record({CART: state(2_000)})
    assert log.flush(WAIT_S)
    log = place.opened()
    assert log.restore() == {SHOP: state(1_000), CART: state(2_000)}
    assert log.counts.unreadable == 0


def test_a_part_can_be_taken_away(place: Place) -> None:
    log = place.opened()
    log.restore()
    log.record({SHOP: state(1_000), CART: state(1_000)})
    assert log.flush(WAIT_S)
    place.put(str(Ref("facts", CART)), None)
    assert place.opened().restore() == {SHOP: state(1_000)}


def test_a_state_that_is_not_legal_is_counted_and_the_others_go_on(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    log = place.opened()
    log.restore()
    log.record({CART: state(1_000, current=0), SHOP: state(1_000)})
    assert log.flush(WAIT_S)
    assert log.counts.illegal == 1
    assert "cart/eu/client/db: current 0 is not legal" in caplog.text
    assert place.opened().restore() == {SHOP: state(1_000)}
