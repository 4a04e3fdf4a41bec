"""Fixtures of the longer tests that need no stack."""

from collections.abc import Iterator

import pytest

from sluice_kit.servers.kafka import Kafka, kafka


@pytest.fixture
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A broker of a test's own, which the test may kill."""
    with kafka(tmp_path_factory.mktemp("kafka")) as running:
        yield running
