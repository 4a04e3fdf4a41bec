"""kill -9 under load of what takes spans in, sums them and keeps them; tests/long kills the other processes too."""

import pytest

from faults.kills import kill_each
from support.stack import Stack


def test_nothing_is_lost_or_counted_twice(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    kill_each(stack, ("collector", "flink-taskmanager", "clickhouse"), "fault-", capsys)
