"""kill -9 of each process of the pipeline in turn, under load."""

import pytest

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.kills import kill_each

PROCESSES = ("collector", "flink-taskmanager", "clickhouse", "kafka", "neo4j", "flink-jobmanager")


def test_nothing_is_lost_or_counted_twice(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    kill_each(stack, PROCESSES, "kill-each-", capsys)
