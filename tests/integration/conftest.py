"""One real stack for all tests of this folder: collector, Kafka, Flink, ClickHouse, Neo4j, recommender; no demo."""

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
