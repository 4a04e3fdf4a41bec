"""What /readyz says of the decider's neighbours, and what is logged."""

import logging
import threading
import time
from typing import Any

import pytest

from sluice.clickhouse.schema import NEEDED
from sluice.decider.readiness import Readiness
from sluice.engine.health import Health
from sluice.journal.shard import HungError


class Neighbours:
    """ClickHouse and Kafka, which a test changes. `looks` ends the thread after the last one."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.error: Exception | None = None
        self.columns_: list[list[Any]] = [[0], [0]]
        self.hung = False

    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[Any]]:
        if self.error:
            raise self.error
        return self.columns_

    def topics(self) -> None:
        self.stop.set()
        if self.hung:
            raise HungError("list topics: Failed to resolve 'kafka.invalid'")


def looked(neighbours: Neighbours, ready: Readiness) -> None:
    neighbours.stop.clear()
    ready.run(neighbours.stop)


def test_causes_and_their_ends(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    caplog.set_level(logging.INFO)
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    neighbours, health = Neighbours(), Health(lambda: 0.0)
    ready = Readiness(neighbours, neighbours.topics, health)
    assert health.unready() == [f"{part}: not reached yet" for part in ("clickhouse", "schema", "kafka")]

    neighbours.error, neighbours.hung = ConnectionError("refused\nby the server"), True
    looked(neighbours, ready)
    assert health.unready() == [
        "clickhouse: ConnectionError: refused",
        "schema: not reached yet",
        "kafka: HungError: list topics: Failed to resolve 'kafka.invalid'",
    ]
    neighbours.error, neighbours.hung = None, False
    for now in (10.0, 20.0, 39.0, 41.0):  # noqa: B007 (the clock)
        looked(neighbours, ready)
    assert health.unready() == [f"schema: have none, need {NEEDED}; run `sluice-migrate up`"]
    assert not ready.schema.is_set()
    neighbours.columns_ = [[1], [NEEDED]]
    looked(neighbours, ready)
    assert health.unready() == []
    assert ready.schema.is_set()
    neighbours.error = ConnectionError("reset")
    looked(neighbours, ready)
    assert (health.unready(), ready.schema.is_set()) == (["clickhouse: ConnectionError: reset"], True)
    assert [record.message for record in caplog.records] == [
        "waiting for clickhouse: ConnectionError: refused",
        "waiting for kafka: HungError: list topics: Failed to resolve 'kafka.invalid'",
        "clickhouse is ready",
        f"waiting for schema: have none, need {NEEDED}; run `sluice-migrate up`",
        "kafka is ready",
        f"waiting for schema: have none, need {NEEDED}; run `sluice-migrate up`",
        "schema is ready",
        "waiting for clickhouse: ConnectionError: reset",
    ]
