"""Neo4j: whether it answers, and whether it has the call graph."""

import os
import time
from typing import Any

import requests

from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError
from sluice.cli.doctor.probe import START, host_and_port, open_port
from sluice.cli.environment import NONE, Addresses, with_scheme
from sluice.cli.pools.text import seconds

_EDGES = "MATCH (:Service)-[c:CALLS]->(:Service) RETURN count(c) AS edges, max(c.window) AS newest"


def edges(where: Addresses, timeout_s: float) -> Diagnosis:
    """Checks that Bolt is open, since the jobs write over it. Queries over HTTP, since the driver imports slowly."""
    try:
        open_port(where.neo4j, timeout_s)
    except NotAnsweringError as error:
        return Diagnosis("fail", str(error), START)
    if where.neo4j_http == NONE:
        return Diagnosis("ok", f"{where.neo4j} is open; edges are not counted, because SLUICE_NEO4J_HTTP is {NONE}")
    if host_and_port(where.neo4j)[0] != host_and_port(where.neo4j_http)[0]:
        raise NotAnsweringError(f"SLUICE_NEO4J_HTTP={where.neo4j_http} is another host than {where.neo4j}")
    url = f"{with_scheme(where.neo4j_http)}/db/{os.environ.get('SLUICE_NEO4J_DATABASE') or 'neo4j'}/tx/commit"
    try:
        answer = requests.post(
            url,
            json={"statements": [{"statement": _EDGES}]},
            auth=(os.environ.get("SLUICE_NEO4J_USER") or "neo4j", where.neo4j_password),
            headers={"access-mode": "READ"},
            verify=os.environ.get("SLUICE_NEO4J_CA") or True,
            timeout=timeout_s,
        )
    except requests.Timeout:
        stuck = f"{url} accepts the query and does not answer within {timeout_s:g} s"
        return Diagnosis("fail", stuck, "read Neo4j's log; windows and sizes do not wait for it")
    except requests.RequestException as error:
        raise NotAnsweringError(f"{where.neo4j} is open, but {url} does not answer ({type(error).__name__})") from None
    except OSError as error:
        raise NotAnsweringError(f"cannot read SLUICE_NEO4J_CA: {error}") from None
    return judge_answer(where.neo4j_http, answer.status_code, _body(answer), time.time())


def _body(answer: requests.Response) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def judge_answer(address: str, status: int, body: dict[str, Any], now_s: float) -> Diagnosis:
    """body: the JSON of Neo4j's HTTP API; empty where the answer is not JSON."""
    errors = body.get("errors") or []
    if status == 401:
        return Diagnosis("fail", f"{address} refuses the password of user neo4j", "set SLUICE_NEO4J_PASSWORD")
    if errors or "results" not in body:
        error_text = errors[0].get("message", "") if errors else f"HTTP {status}"
        return Diagnosis("fail", f"{address} answered: {' '.join(error_text.split())[:200]}", "read Neo4j's log")
    count, newest = body["results"][0]["data"][0]["row"]
    return judge_edges(count, newest, now_s)


def judge_edges(count: int, newest_s: float | None, now_s: float) -> Diagnosis:
    """newest_s: start of the newest window with a call, seconds since 1970."""
    if not count:
        return Diagnosis("warn", "answers, but has no call between services yet", "send spans; if you do, see flink")
    age = "" if newest_s is None else f", newest window began {seconds(now_s - newest_s)} ago"
    return Diagnosis("ok", f"{count:,} CALLS edges{age}")
