"""One real stack for all tests that ask for it: collector, Kafka, Flink, ClickHouse, Neo4j, recommender; no demo."""

import shutil
from collections.abc import Iterator

import pytest

from support.stack import REPOSITORY, Stack, drive, local_stack


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    drive("down")  # what an interrupted run left
    shutil.rmtree(REPOSITORY / ".cache/test-stack", ignore_errors=True)
    with local_stack("--no-demo") as stack:
        yield stack


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test waits for the stack to come up; on a machine that sets it up as well, that is minutes."""
    for item in items:
        if "stack" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.stack)
            item.add_marker(pytest.mark.timeout(1800))
