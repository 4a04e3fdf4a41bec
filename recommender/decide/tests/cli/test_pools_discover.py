"""`sluice pools discover` against a real server."""

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from sluice.config.load import parse
from sluice.model.keys import PoolKey
from sluice.pools.discovery.candidate import Candidate
from sluice.pools.discovery.configured import with_found
from sluice.pools.discovery.message import write_candidate

from .pool_server import PoolServer

Run = Callable[..., Result]
FOUND = [
    Candidate(PoolKey("cart", "server", ""), "metrics have it", "metrics", 1, 3.0, 2, 200, "metrics", 5),
    Candidate(PoolKey("on", "client", "no: [1]"), "an actuator reports it", "actuator", 2, 2.0, 1, 8, "actuator", 5),
    Candidate(PoolKey("mail", "consumer", ""), "it stops at 10", "bound", 3, 1.0, 1, seen_ms=5),
]
NONE = Candidate(PoolKey("web", "server", ""), "no size", concurrency=9.0, instances=1, seen_ms=5)
NAMED = Candidate(PoolKey("named", "server", ""), "the configuration names it", "configuration", 1, 0.5, 1, seen_ms=5)


@pytest.fixture
def with_candidates(pool_server: PoolServer) -> PoolServer:
    pool_server.candidates = [write_candidate(one) for one in (NAMED, *FOUND, NONE)]
    return pool_server


def test_the_most_loaded_come_first(with_candidates: PoolServer, run: Run) -> None:
    result = run("pools", "discover", "--address", with_candidates.address)
    header, *rows = result.stdout.splitlines()
    assert header.split() == ["POOL", "FOUND", "AGE", "SIZE", "FROM", "IN", "FLIGHT", "WHY"]
    assert [row.split()[0] for row in rows] == [
        "web/server",
        "cart/server",
        "on/client/no:",
        "mail/consumer",
        "named/server",
    ]
    assert rows[0].split() == ["web/server", "-", "-", "-", "-", "9.00", "no", "size"]
    cart = rows[1].split()
    assert (cart[1], cart[-6:]) == ("METRICS", ["200", "METRICS", "3.00", "metrics", "have", "it"])
    assert result.stderr == "4 pools, 1 candidates that are none\n"
    one = run("pools", "discover", "--service", "mail", "--address", with_candidates.address)
    assert len(one.stdout.splitlines()) == 2


def test_yaml_is_the_configuration_that_names_what_was_found(with_candidates: PoolServer, run: Run) -> None:
    result = run("pools", "discover", "-o", "yaml", "--address", with_candidates.address)
    by_hand = parse(result.stdout, "sluice.yaml")
    found = with_found(parse("", "sluice.yaml"), {one.key: one for one in FOUND})
    assert (by_hand.discovery, by_hand.pools) == (None, found.pools)
    assert "(1)" in result.stderr


def test_json_has_each_field(with_candidates: PoolServer, run: Run) -> None:
    candidates = json.loads(run("pools", "discover", "-o", "json", "--address", with_candidates.address).stdout)
    assert [(one["found_by"], one["size"]) for one in candidates][:2] == [
        ("FOUND_BY_UNSPECIFIED", None),
        ("METRICS", 200),
    ]


@pytest.mark.parametrize(
    ("form", "shown"), [("json", "[]\n"), ("yaml", "pools: auto\n"), ("table", "The recommender has no candidate")]
)
def test_no_candidate(pool_server: PoolServer, run: Run, form: str, shown: str) -> None:
    where = {"SLUICE_RECOMMENDER": pool_server.address, "SLUICE_CLICKHOUSE": "http://127.0.0.1:1"}
    assert run("pools", "discover", "-o", form, **where).stdout.startswith(shown)


def test_no_candidate_of_a_service(with_candidates: PoolServer, run: Run) -> None:
    result = run("pools", "discover", "--service", "crat", "--address", with_candidates.address)
    assert result.stdout == "No candidate is of service 'crat'. Candidates are of: cart, mail, named, on, web.\n"


@pytest.mark.parametrize("command", ["get", "explain", "resume"])
def test_a_pool_that_is_only_a_candidate(with_candidates: PoolServer, run: Run, command: str) -> None:
    """It was "not in the configuration", also under `pools: auto`."""
    result = run("pools", command, "web", "--address", with_candidates.address)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "web/server is a candidate, and no pool: no size. It becomes a pool once an actuator" in result.stderr
    assert "or its callers' traces show a limit; or name it under `pools`" in result.stderr
    assert "./sluice pools discover" in result.stderr


def test_a_misspelt_side_names_the_candidates_of_the_service(with_candidates: PoolServer, run: Run) -> None:
    result = run("pools", "explain", "web/consumer", "--address", with_candidates.address)
    assert (
        "no such pool: web/consumer. Neither the configuration nor spans have it. Spans of web show web/server. "
        in (result.stderr)
    )
