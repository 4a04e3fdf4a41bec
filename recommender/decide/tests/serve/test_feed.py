"""What a watcher is told, as a pure function of what was published."""

from dataclasses import replace

import pytest

from fakes import CART, DB, FakeClock, FakeCollector, FakeHistory, config, hump
from sluice.control.answer import Answer
from sluice.control.loop import ControlLoop
from sluice.control.sizes import Sizes
from sluice.control.store import Store
from sluice.core.keys import PoolKey
from sluice.log.memory import MemoryStateLog
from sluice.serve.feed import MOST_BATCHES, Batches, Cursor, events, parse_cursor
from sluice.serve.messages import InvalidFieldError


def answers() -> list[Answer]:
    """One each for cart and the database of catalogue."""
    store, clock = Store(), FakeClock()
    ControlLoop(config(), FakeCollector({CART: hump()}), FakeHistory(), MemoryStateLog(), store, Sizes(), clock).step()
    return store.newest()


def published(store: Store, *given: Answer) -> None:
    store.publish(store.number(list(given)))


def kinds(store: Store, cursor: Cursor | None, service: str = "") -> list[str]:
    """The events in short: the pool's service, `snapshot` or `heartbeat`."""
    told = events(store.published(), "run", cursor, service)
    return [event.pool_size.pool.service or event.WhichOneof("event") or "" for event in told]


def test_first_everything_then_what_changed_then_heartbeats() -> None:
    store, (cart, db) = Store(), answers()
    published(store, cart, db)
    assert kinds(store, None) == ["cart", "catalogue", "snapshot"]
    published(store, cart, db)
    assert kinds(store, Cursor("run", 1)) == ["heartbeat"]
    published(store, replace(cart, content=replace(cart.content, current=9)), db)
    assert kinds(store, Cursor("run", 2)) == ["cart", "heartbeat"]
    # Who missed a set is told what changed in any of them, once.
    assert kinds(store, Cursor("run", 1)) == ["cart", "heartbeat"]
    assert kinds(store, Cursor("run", 3)) == ["heartbeat"]


def test_the_token_stands_at_the_end_of_a_batch_only() -> None:
    store, (cart, db) = Store(), answers()
    published(store, cart, db)
    tokens = [event.resume_token for event in events(store.published(), "run", None, "")]
    assert tokens == ["", "", "run.1"]
    assert parse_cursor(tokens[-1]) == Cursor("run", 1)


@pytest.mark.parametrize("cursor", [Cursor("another run", 1), Cursor("run", 7)])
def test_a_cursor_of_another_run_or_from_the_future_gets_everything(cursor: Cursor) -> None:
    store, (cart, db) = Store(), answers()
    published(store, cart, db)
    assert kinds(store, cursor) == ["cart", "catalogue", "snapshot"]


def test_another_set_of_pools_gives_everything_so_that_what_is_gone_can_be_told() -> None:
    store, (cart, db) = Store(), answers()
    published(store, cart, db)
    published(store, cart)
    assert kinds(store, Cursor("run", 1)) == ["cart", "snapshot"]
    published(store, cart)
    assert kinds(store, Cursor("run", 2)) == ["heartbeat"]


def test_one_service_only() -> None:
    store, (cart, db) = Store(), answers()
    published(store, cart, db)
    assert kinds(store, None, "catalogue") == ["catalogue", "snapshot"]
    assert kinds(store, None, "nobody") == ["snapshot"]


def test_a_heartbeat_carries_the_newest_lease() -> None:
    store, (cart, db) = Store(), answers()
    stale = replace(db, computed_at_ms=cart.computed_at_ms - 60_000, valid_until_ms=cart.valid_until_ms - 60_000)
    published(store, cart, stale)
    (event,) = events(store.published(), "run", Cursor("run", 1), "")
    assert event.heartbeat.computed_at.ToMilliseconds() == cart.computed_at_ms
    assert event.heartbeat.valid_until.ToMilliseconds() == cart.valid_until_ms


@pytest.mark.parametrize("token", ["x", ".", "run.", ".5", "run.-1", "run.1.5x"])
def test_a_token_that_is_none_of_ours_is_refused(token: str) -> None:
    with pytest.raises(InvalidFieldError, match="resume_token"):
        parse_cursor(token)


def test_the_key_of_a_pool_orders_the_state() -> None:
    assert sorted([DB, CART]) == [CART, DB]
    assert PoolKey("cart", "server", "") == CART


def test_batches_are_made_once_and_are_what_events_gives() -> None:
    store, (cart, db) = Store(), answers()
    batches = Batches("run")
    published(store, cart, db)
    for number in range(3):
        published(store, replace(cart, content=replace(cart.content, current=number)), db)
        now = store.published()
        for cursor in (None, Cursor("run", 1), Cursor("run", now.number - 1), Cursor("another run", 1)):
            for service in ("", "cart", "catalogue", "nobody"):
                told = batches.of(now, cursor, service)
                assert told == list(events(now, "run", cursor, service))
                assert batches.of(now, cursor, service) is told


def test_cursors_and_services_that_callers_made_up_fill_no_memory() -> None:
    store, (cart, db) = Store(), answers()
    batches = Batches("run")
    published(store, cart, db)
    first = batches.of(store.published(), None, "cart")
    assert batches.of(store.published(), Cursor("made up", 1), "cart") is first
    for n in range(2 * MOST_BATCHES):
        assert len(batches.of(store.published(), None, f"made-up-{n}")) == 1
    assert len(batches) == MOST_BATCHES
