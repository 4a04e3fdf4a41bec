"""Neo4j: is it there, and does it have the call graph?"""

import time

from sluice.cli.doctor.finding import Check, NotAnsweringError, Verdict
from sluice.cli.doctor.probe import START, open_port
from sluice.cli.environment import Addresses
from sluice.cli.pools.words import seconds

_EDGES = "MATCH (:Service)-[c:CALLS]->(:Service) RETURN count(c) AS edges, max(c.window) AS newest"


def edges(where: Addresses, timeout_s: float) -> Verdict:
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    try:
        open_port(where.neo4j, timeout_s)
        with GraphDatabase.driver(
            where.neo4j,
            auth=("neo4j", where.neo4j_password),
            connection_timeout=timeout_s,
            connection_acquisition_timeout=timeout_s,
            max_transaction_retry_time=timeout_s,
            notifications_min_severity="OFF",
        ) as driver:
            record = driver.execute_query(_EDGES, routing_="r").records[0]
    except NotAnsweringError as error:
        return Verdict("fail", str(error), START)
    except AuthError:
        return Verdict("fail", f"{where.neo4j} refuses the password of user neo4j", "set SLUICE_NEO4J_PASSWORD")
    except (DriverError, Neo4jError) as error:
        return Verdict("fail", f"{where.neo4j} answered: {' '.join(str(error).split())[:200]}", "read Neo4j's log")
    return judge_edges(record["edges"], record["newest"], time.time())


def judge_edges(count: int, newest_s: float | None, now_s: float) -> Verdict:
    """newest_s: start of the newest window with a call, seconds since 1970."""
    if not count:
        return Verdict(
            "warn", "answers, but has no call between services yet", "send spans; if some are sent, see flink"
        )
    age = "" if newest_s is None else f", newest window began {seconds(now_s - newest_s)} ago"
    return Verdict("ok", f"{count:,} CALLS edges{age}")


CHECKS = [Check("neo4j", "call graph", edges)]
