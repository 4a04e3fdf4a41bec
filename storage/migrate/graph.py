"""Applies the constraints of the call graph to Neo4j."""

from collections.abc import Iterable

from neo4j import Driver, GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError, ServiceUnavailable, SessionExpired, TransientError

from migrate.errors import MigrateError
from migrate.statements import Statement
from migrate.waiting import until_ready


def connect(url: str, password: str, wait_s: float) -> Driver:
    """A driver for user `neo4j`; waits until the server answers. A wrong password is not waited for."""
    try:
        driver = GraphDatabase.driver(url, auth=("neo4j", password))
    except (DriverError, ValueError) as error:
        raise MigrateError(f"read the Neo4j address {url!r}: {error}") from error
    try:
        until_ready(
            f"Neo4j at {url}", driver.verify_connectivity, (ServiceUnavailable, SessionExpired, TransientError), wait_s
        )
    except Neo4jError as error:
        driver.close()
        raise MigrateError(f"connect to Neo4j at {url}: {error.message}") from error
    except MigrateError:
        driver.close()
        raise
    return driver


def run(driver: Driver, statements: Iterable[Statement]) -> None:
    """Runs statements in order, each in a transaction of its own."""
    for statement in statements:
        try:
            driver.execute_query(statement.text)
        except Neo4jError as error:
            raise MigrateError(f"apply {statement.describe()}: {error.message}") from error
