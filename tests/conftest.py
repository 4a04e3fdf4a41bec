"""One real stack for all tests that ask for it: collector, Kafka, Flink, ClickHouse, Neo4j, recommender; no demo."""

import os
import shutil
import time
from collections.abc import Iterator

import pytest

from support.messages import PARTITIONS, SentSpan, message, produce
from support.stack import REPOSITORY, Stack, drive, eventually, local_stack


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    drive("down")  # what an interrupted run left
    shutil.rmtree(REPOSITORY / ".cache/test-stack", ignore_errors=True)
    with local_stack("--no-demo") as stack:
        wait_until_read(stack)
        yield stack


def wait_until_read(stack: Stack) -> None:
    """A span on each partition, and its window: a partition that is read late, at the start, counts as idle."""
    now = time.time_ns()
    spans = [SentSpan(f"first-{n}", os.urandom(16), os.urandom(8), b"", "SERVER", now, now) for n in range(PARTITIONS)]
    produce(stack.address["SLUICE_KAFKA"], [(message([span]), n) for n, span in enumerate(spans)])
    query = "SELECT toUInt32(uniqExact(service)) FROM v_windows WHERE startsWith(service, 'first-')"
    assert eventually(lambda: stack.value(query), PARTITIONS, steady_s=0) == PARTITIONS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test waits for the stack to come up; on a machine that sets it up as well, that is minutes."""
    for item in items:
        if "stack" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.stack)
            item.add_marker(pytest.mark.timeout(1800))
