"""One real broker for all tests of this room that ask for one."""

from collections.abc import Iterator

import pytest

from support.kafka import Kafka, kafka


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    with kafka(tmp_path_factory.mktemp("kafka")) as running:
        yield running
