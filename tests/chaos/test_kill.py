"""kill -9 under load of what takes spans in, sums them and keeps them; tests/soak kills the other processes too."""

import pytest

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.kills import kill_each


def test_nothing_is_lost_or_counted_twice(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    kill_each(stack, ("collector", "flink-taskmanager", "clickhouse"), "fault-", capsys)
