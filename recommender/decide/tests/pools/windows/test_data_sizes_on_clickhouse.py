"""How much data spans of pools move, by the real engine, against means worked out by hand."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.learned.condition import DataSize
from sluice.pools.windows import Collector
from sluice.pools.windows.data_sizes import parameters

pytestmark = pytest.mark.integration

NOW_S = 1_800_000_000
CART, TO_DB = PoolKey("cart", "server", ""), PoolKey("cart", "client", "db")
COLUMNS = [
    *("side", "service", "peer", "instance", "window", "window_s"),
    *("row_spans", "row_sum", "byte_spans", "byte_sum", "version"),
]


def row(
    age_s: int, side: str, service: str, peer: str, rows: tuple[int, int], bytes_: tuple[int, int], version: int = 1
) -> Any:
    """rows, bytes_: how many spans say them, and their sum."""
    window = datetime.fromtimestamp(NOW_S - age_s, UTC)
    return [side, service, peer, f"{service}-1", window, 10, *rows, *bytes_, version]


def config(model: str = "dqn") -> Config:
    common = {"threshold": "100ms", "model": model}
    return Config.model_validate(
        {
            "learning": {"directory": "/nowhere"},
            "pools": [
                {"service": "believed", "side": "server", "threshold": "100ms"},
                {"service": "cart", "side": "client", "peer": "db", **common},
                {"service": "cart", "side": "server", **common},
                {"service": "quiet", "side": "server", **common},
            ],
        }
    )


def test_means_are_of_the_spans_that_say_so_in_the_newest_minute(database: Any) -> None:
    rows = [
        row(0, "client", "cart", "db", (4, 100), (0, 0)),
        row(0, "client", "cart", "db", (5, 150), (0, 0), version=2),  # the same, of later
        row(60, "client", "cart", "db", (1, 30), (2, 500)),
        row(10, "client", "cart", "queue", (2, 20), (9, 9_000)),
        row(10, "server", "cart", "", (0, 0), (3, 900)),
        row(70, "client", "cart", "db", (1, 7_000), (1, 7_000)),  # before the minute
        row(-10, "client", "cart", "db", (1, 7_000), (1, 7_000)),  # after it
        row(10, "server", "believed", "", (3, 3), (3, 3)),
        row(10, "server", "other", "", (3, 3), (3, 3)),
    ]
    database.client("sluice").insert("data_sizes", rows, column_names=COLUMNS)
    found = Collector(ClickHouse(database.url, READER)).data_sizes(config(), 1_000 * NOW_S + 5)
    # To the database: 180 rows of 6 spans, 500 bytes of 2. Of the service: besides, 20 rows of 2; 900 bytes of 3.
    assert found == {TO_DB: DataSize(30.0, 250.0), CART: DataSize(25.0, 300.0)}


def test_nobody_is_asked_where_no_size_is_learnt() -> None:
    class Silent:
        def arrays(self, *_: object) -> Any:
            raise AssertionError

        columns = arrays

    assert Collector(Silent()).data_sizes(config(model="belief"), 1_000 * NOW_S) == {}


def test_the_minute_begins_with_a_window() -> None:
    """1,800,000,009: from 1,799,999,940, which began 69 s before, up to the window of now."""
    assert parameters(1_800_000_009_999) == {"from_s": 1_799_999_940, "to_s": 1_800_000_010}
