"""Applies the constraints of the call graph to Neo4j."""

from collections.abc import Iterable
from typing import Any

from neo4j import Driver, GraphDatabase, TrustCustomCAs
from neo4j.exceptions import DriverError, Neo4jError, ServiceUnavailable, SessionExpired, TransientError

from migrate.errors import MigrateError
from migrate.statements import Statement
from migrate.waiting import until_ready


def connect(url: str, password: str, wait_s: float, user: str = "neo4j", authority: str = "") -> Driver:
    """Waits until the server answers. Raises MigrateError after wait_s, and at once for a wrong password.

    authority: PEM file of the authority of the server's certificate, for TLS; "": the URL decides.
    """
    tls: dict[str, Any] = {"encrypted": True, "trusted_certificates": TrustCustomCAs(authority)} if authority else {}
    try:
        driver = GraphDatabase.driver(url, auth=(user, password), **tls)
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


def run(driver: Driver, statements: Iterable[Statement], database: str = "neo4j") -> None:
    """Runs statements in order, each in a transaction of its own."""
    for statement in statements:
        try:
            driver.execute_query(statement.text, database_=database)
        except Neo4jError as error:
            raise MigrateError(f"apply {statement.describe()}: {error.message}") from error
