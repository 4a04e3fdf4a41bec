"""Rows reach the database whatever it does, as far as the bound allows."""

import threading

import pytest

from sluice.serve import outbox
from sluice.serve.outbox import Outbox, Row


class Table:
    """Refuses the first `refusals` inserts."""

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.batches: list[tuple[str, list[Row]]] = []
        self.refused = threading.Event()

    def __call__(self, table: str, rows: list[Row]) -> None:
        if self.refusals:
            self.refusals -= 1
            self.refused.set()
            raise ConnectionError("down")
        self.batches.append((table, rows))


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "FIRST_WAIT_S", 0.01)


def test_rows_of_one_table_go_in_one_batch_in_order() -> None:
    table = Table()
    box = Outbox(table)
    box.put("a", [(1,), (2,)])
    box.put("b", [(3,)])
    box.put("a", [(4,)])
    box.start()
    assert box.close(5)
    assert table.batches == [("a", [(1,), (2,)]), ("b", [(3,)]), ("a", [(4,)])]


def test_what_was_refused_is_tried_again() -> None:
    table = Table(refusals=3)
    box = Outbox(table)
    box.start()
    box.put("a", [(1,)])
    assert box.close(5)
    assert table.batches == [("a", [(1,)])]


def test_a_full_queue_drops_the_oldest_and_counts_them() -> None:
    table = Table()
    box = Outbox(table, capacity=3)
    box.put("a", [(n,) for n in range(5)])
    box.start()
    assert box.close(5)
    assert (table.batches, box.dropped) == ([("a", [(2,), (3,), (4,)])], 2)


def test_rows_dropped_during_an_insert_are_not_dropped_twice() -> None:
    table = Table(refusals=1)
    box = Outbox(table, capacity=2)
    box.put("a", [(1,), (2,)])
    box.start()
    assert table.refused.wait(5)
    box.put("a", [(3,)])
    assert box.close(5)
    assert [row for _, rows in table.batches for row in rows] in ([(2,), (3,)], [(1,), (2,), (3,)])
    assert not box._rows


def test_it_can_be_closed_before_it_was_started() -> None:
    box = Outbox(Table())
    assert box.close(0.1)
    box.put("a", [(1,)])
    assert not box.close(0.1)
