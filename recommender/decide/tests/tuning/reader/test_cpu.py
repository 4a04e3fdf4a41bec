"""The CPU time of what a root leads to, worked out by hand."""

from __future__ import annotations

import pytest

from sluice.tuning.objective.block import Block
from sluice.tuning.reader.cpu import ContainerWindows, CpuReading, Used, containers, reached, used, with_cpu


def test_a_window_has_the_cores_that_the_next_point_tells() -> None:
    container = ContainerWindows("web", "web-1", {0, 10, 20, 30, 40, 130}, {30: 0.5, 60: 0.7})
    assert [container.used(at) for at in (0, 10, 20, 30, 40, 60)] == [0.5, 0.5, 0.5, 0.5, 0.7, 0.7]
    assert container.used(130) is None, "it worked, and nobody tells"
    assert container.used(120) == 0.0, "it was not there"
    assert ContainerWindows("web", "web-1", {0}, {60: 0.5}).used(0) is None, (
        "a point a minute later tells of what came after"
    )


def test_rows_are_one_container_each() -> None:
    rows = [("web", "a", 10, 1, None), ("web", "a", 20, 0, 0.25), ("web", "b", 10, 1, 0.5)]
    assert containers(rows) == [
        ContainerWindows("web", "a", {10}, {20: 0.25}),
        ContainerWindows("web", "b", {10}, {10: 0.5}),
    ]


def test_all_that_a_root_calls_is_reached_once_round_circles_too() -> None:
    calls = [("web", "cart"), ("cart", "db"), ("db", "web"), ("shop", "bank"), ("batch", "web")]
    assert reached("web", calls) == {"web", "cart", "db"}
    assert reached("bank", calls) == {"bank"}


def test_one_that_does_not_tell_leaves_the_window_unknown_and_is_named_once_it_is_too_late() -> None:
    containers = [
        ContainerWindows("web", "a", {0, 10}, {0: 0.5, 10: 0.5}),
        ContainerWindows("db", "b", {0, 10}, {0: 0.1}),
    ]
    assert used(containers, [0, 10], 109) == Used({0: pytest.approx(6.0)}, ())
    assert used(containers, [0, 10], 110) == Used({0: pytest.approx(6.0)}, ("'b' of 'db'",))
    assert used([], [0], 99) == Used({}, ())
    assert used([], [0], 100) == Used({}, ("any container",))


def test_a_block_has_its_share_of_the_requests() -> None:
    blocks = {0: Block(10.0, {1: 90}, 10), 10: Block(10.0, {}), 20: Block(10.0, {1: 5}), 30: Block(10.0, {})}
    with_times = with_cpu(blocks, {0: 300, 10: 50, 20: 5}, Used({0: 6.0, 10: 6.0, 30: 2.0}, ()))
    assert [block.cpu_s for block in with_times.values()] == [2.0, 0.0, None, 2.0]


class Counted:
    """A database without rows, which counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[object]]:
        self.asked += 1
        return []


def test_the_same_windows_are_read_once_in_ten_seconds() -> None:
    database = Counted()
    reading = CpuReading(database)
    queries = []
    for windows, upto_s in (([0, 10], 20), ([0, 10], 29), ([0, 10], 30), ([0, 10, 20], 31), ([], 31)):
        reading.used("web", windows, upto_s)
        queries.append(database.asked)
    assert queries == [2, 2, 4, 6, 6], "two queries a reading"
