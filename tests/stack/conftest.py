"""Fixtures of the tests on a stack. `good_data_follows` is for modules of bad input."""

from collections.abc import Iterator

import pytest
from neo4j import Driver, GraphDatabase

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.good_data import GoodData


@pytest.fixture(scope="module")
def good_data(stack: Stack) -> Iterator[GoodData]:
    sent = GoodData(stack)
    yield sent
    sent.counts()


@pytest.fixture
def good_data_follows(good_data: GoodData, request: pytest.FixtureRequest) -> Iterator[None]:
    with good_data.follows(request.node.name):
        yield


@pytest.fixture
def graph(stack: Stack) -> Iterator[Driver]:
    credentials = ("neo4j", stack.address["SLUICE_NEO4J_PASSWORD"])
    with GraphDatabase.driver(stack.address["SLUICE_NEO4J"], auth=credentials) as driver:
        yield driver
