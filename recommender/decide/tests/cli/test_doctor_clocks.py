"""What the doctor says of instances' clocks; of a real engine too."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from migrate.__main__ import schema_up
from sluice.cli.doctor import clocks as check
from sluice.cli.doctor.finding import NotAnsweringError
from sluice.cli.environment import addresses
from sluice.pools.clocks.offsets import Instance, InstanceDelay
from sluice_kit.servers.clickhouse import ClickHouse, clickhouse

RIGHT = InstanceDelay(200, 6, 180, 12)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        yield server


def test_right_clocks_are_no_finding() -> None:
    diagnosis = check.judge({Instance("cart", "a"): RIGHT, Instance("cart", "b"): InstanceDelay(3_000, 6, 2_000, 12)})
    assert (diagnosis.level, diagnosis.text) == ("ok", "2 instances, none known to be off by more than 200 ms")
    assert check.judge({}).level == "ok"


def test_whose_clock_is_off_and_by_how_much() -> None:
    diagnosis = check.judge(
        {
            Instance("cart", "a"): RIGHT,
            Instance("cart", "b"): InstanceDelay(-800, 6, -850, 12),
            Instance("stock", "c"): InstanceDelay(9_700, 6, 9_600, 12),
        }
    )
    assert diagnosis.level == "warn"
    assert diagnosis.text == (
        "clocks of 2 of 3 instances are off: "
        "stock c 3.4 s behind (beside the 6 s that an exporter may keep spans), cart b 1.0 s ahead"
    )
    assert "chronyd" in diagnosis.remedy


def test_of_many_the_worst_are_named() -> None:
    right = {Instance("right", str(n)): InstanceDelay(0, 6, 0, 12) for n in range(14)}
    off = {Instance("s", f"{n:02}"): InstanceDelay(-1_000 - 100 * n, 6, -3_000, 12) for n in range(13)}
    diagnosis = check.judge(right | off)
    assert diagnosis.text.startswith("clocks of 13 of 27 instances are off: s 12 2.2 s ahead, s 11 2.1 s ahead, ")
    assert diagnosis.text.endswith("3 more")


def test_where_most_are_ahead_it_is_the_brokers_clock() -> None:
    diagnosis = check.judge({Instance("s", str(n)): InstanceDelay(-1_000, 6, -3_000, 12) for n in range(5)})
    assert (diagnosis.level, diagnosis.text) == (
        "warn",
        "most spans arrive 1.0 s before they end: the clock of the Kafka broker is behind",
    )


@pytest.mark.integration
def test_on_a_real_engine(engine: ClickHouse, tmp_path: Path) -> None:
    where = addresses({"SLUICE_CLICKHOUSE": engine.url})
    with pytest.raises(NotAnsweringError):
        check.clocks(where, 5)
    schema_up(engine.writer_url, "sluice", wait_s=10)
    assert check.clocks(where, 5).level == "ok"
    engine.client("sluice").command(
        "INSERT INTO instance_clocks (service, instance, window, window_s, spans, least_ms, sum_ms, version) "
        "SELECT 'cart', 'cart-\\'1', toStartOfInterval(now(), INTERVAL 10 SECOND) - 10 * number, 10, 5, -800, 0, 5 "
        "FROM numbers(6)"
    )
    diagnosis = check.clocks(where, 5)
    assert (diagnosis.level, diagnosis.text) == ("warn", "clocks of 1 of 1 instances are off: cart cart-'1 0.8 s ahead")
