"""What `sluice pools list` says where there is no pool."""

from collections.abc import Callable

import pytest
from click.testing import Result

from sluice.cli.environment import Addresses
from sluice.cli.pools.empty import advice, unfound

from .pool_server import PoolServer

CLINIC = [
    ("petclinic", "server", "", 1_500),
    ("petclinic", "client", "127.0.0.1/petclinic", 1_204),
    ("visits", "server", "", 9),
]


def test_without_spans_it_says_where_to_send_them() -> None:
    text = advice("", [], Addresses())
    assert text.startswith("No span arrived in 10 min. Send traces by OTLP to 127.0.0.1:4317 (gRPC) or 127.0.0.1:4318")
    assert "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317" in text


@pytest.mark.parametrize("service", ["", "unheard-of"])
def test_candidates_are_named_with_the_way_to_make_them_pools(service: str) -> None:
    assert advice(service, CLINIC, Addresses()) == (
        "Spans of 10 min show these candidates: petclinic/server (1,500 requests), "
        "petclinic/client/127.0.0.1/petclinic (1,204 requests), visits/server (9 requests). ./sluice pools discover "
        "tells why none is a pool. To name pools by hand, add them under `pools` in the decider's file, and run "
        "./sluice reload."
    )


def test_those_of_the_service_that_was_asked_for_and_only_some() -> None:
    assert "candidates: visits/server (9 requests). ./sluice" in advice("visits", CLINIC, Addresses())
    many = [(f"s{nth}", "server", "", 1) for nth in range(8)]
    assert "s5/server (1 requests) and 2 more. ./sluice" in advice("", many, Addresses())


def test_an_empty_list_of_the_server(run: Callable[..., Result], pool_server: PoolServer) -> None:
    where = {"SLUICE_RECOMMENDER": pool_server.address, "SLUICE_CLICKHOUSE": "http://127.0.0.1:1"}
    done = run("pools", "list", "--service", "cart", **where)
    assert (done.exit_code, done.output) == (
        0,
        "The recommender has no pool of service 'cart', and ClickHouse does not tell which spans arrived: "
        "see ./sluice doctor.\n",
    )
    assert run("pools", "list", "-o", "json", **where).output == "[]\n"


CAUSES = [
    "No span arrived in 10 min. Send traces",
    "The configuration lists its pools, so none is looked for",
    "`discovery` in the decider's file selects none of them",
    "The decider reads them every 20 s",
]


@pytest.mark.parametrize(
    ("recent", "pools", "cause"), [([], 2, 0), ([False], 2, 1), ([False, True], 0, 2), ([True], 0, 3)]
)
def test_discover_names_the_one_cause_that_holds(recent: list[bool], pools: int, cause: int) -> None:
    text = unfound([("cart", "server", "", 9, new) for new in recent], pools, Addresses())
    assert [known for known in CAUSES if known in text] == [CAUSES[cause]]
    assert ("cart/server (9 requests)" in text) == bool(recent)
