"""Which pool of the configuration a pool of metrics is: by hand, and where it is in doubt."""

from typing import Any

import pytest

from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.metrics.matching import Matches, matches
from sluice.pools.metrics.pool_metric import MetricsReading, PoolMetric

SERVER, DB, CART = (
    PoolKey("shop", "server", ""),
    PoolKey("shop", "client", "db/shop"),
    PoolKey("shop", "client", "cart"),
)
BOTH = frozenset({"db/shop", "cart"})


def metric(name: str = "HikariPool-1", size: int = 10, peer: str = "", at_s: int = 60, **fields: Any) -> PoolMetric:
    """The size of a pool of shop-1 in hikaricp.connections.max, at seconds of Unix time."""
    side, of = fields.get("side", "client"), fields.get("metric", "hikaricp.connections.max")
    series = f"{of} pool={name}" if name else fields.get("series", of)
    instance, rank = fields.get("instance", "shop-1"), fields.get("rank", 5)
    high = fields.get("high", size)
    return PoolMetric("shop", instance, side, name, peer, rank, series, size, high, 1_000 * at_s, 1_000 * at_s)


def found(*metrics: PoolMetric, peers: frozenset[str] = BOTH, **names: str) -> Matches:
    """names: `metrics:` of the pools, by server, db and cart."""
    pools = [
        {"service": "shop", "side": "server", "threshold": "100ms", "metrics": names.get("server", "")},
        {"service": "shop", "side": "client", "peer": "db/shop", "threshold": "60ms", "metrics": names.get("db", "")},
        {"service": "shop", "side": "client", "peer": "cart", "threshold": "60ms", "metrics": names.get("cart", "")},
    ]
    return matches(Config.model_validate({"pools": pools}).pools, MetricsReading(list(metrics), {"shop": peers}))


def test_attributes_name_the_peer() -> None:
    own, other = metric("a", peer="db/shop"), metric("b", 20, peer="db/other")
    assert found(own, other) == Matches({DB: [own]}, {})


def test_the_only_connection_pool_is_that_of_the_only_database() -> None:
    """cart has no namespace, so it is no database; nothing is said of it."""
    only = metric()
    assert found(only) == Matches({DB: [only]}, {})


def test_without_a_named_database_the_only_peer_has_the_only_pool() -> None:
    only = metric()
    assert found(only, peers=frozenset({"cart"})) == Matches({CART: [only]}, {})


@pytest.mark.parametrize("peers", [frozenset({"pg", "cart"}), frozenset({"db/shop", "db/other"})])
def test_several_peers_that_may_have_the_pool_are_in_doubt(peers: frozenset[str]) -> None:
    matched = found(metric(), peers=peers)
    assert matched.sizes == {}
    keys = {DB} if "db/shop" in peers else {CART}
    assert matched.doubts.keys() == keys
    for doubt in matched.doubts.values():
        assert doubt == (
            f"no attribute says to which of {', '.join(sorted(peers))} the connection pool HikariPool-1 of shop leads; "
            "set metrics: NAME at each pool"
        )


def test_several_connection_pools_of_which_none_has_a_peer_are_in_doubt() -> None:
    matched = found(metric("HikariPool-1"), metric("HikariPool-2"))
    assert matched.sizes == {}
    assert matched.doubts == {
        DB: "metrics of shop have several pools: HikariPool-1, HikariPool-2; set metrics: NAME at the pool"
    }


def test_a_pool_of_another_peer_beside_is_another_pool() -> None:
    """One pool says where it leads, and not to db/shop; the other does not say. It may be a second one of either."""
    assert found(metric("a", peer="db/other"), metric("b")).doubts.keys() == {DB}


def test_pools_that_lead_elsewhere_are_none_of_ours() -> None:
    assert found(metric(peer="db/other")) == Matches({}, {})


def test_a_service_without_spans_of_calls_finds_none() -> None:
    assert found(metric(), peers=frozenset()) == Matches({}, {})


def test_the_configuration_names_a_pool_of_any_side() -> None:
    tomcat = metric("http-nio-8080", 200, side="server", metric="tomcat.thread.limit")
    mail = metric("mail", 8, side="executor", metric="executor.pool.max")
    one, two = metric("HikariPool-1"), metric("HikariPool-2", 20)
    matched = found(tomcat, mail, one, two, server="mail", db="HikariPool-2")
    assert matched.sizes == {SERVER: [mail], DB: [two]}
    assert matched.doubts == {}


def test_a_name_that_the_metrics_lack_is_told_with_those_that_they_have() -> None:
    assert found(metric("HikariPool-1"), db="Hikari").doubts == {
        DB: "metrics of shop have no pool 'Hikari'; they have HikariPool-1"
    }


def test_threads_of_the_web_server_are_the_server_s() -> None:
    tomcat = metric("http-nio-8080", 200, side="server", metric="tomcat.thread.limit")
    executor = metric("mail", 8, side="executor", metric="executor.pool.max")
    assert found(tomcat, executor).sizes == {SERVER: [tomcat]}
    other = metric("http-nio-8081", 10, side="server", metric="tomcat.thread.limit")
    assert found(tomcat, other).doubts == {
        SERVER: "metrics of shop have several pools: http-nio-8080, http-nio-8081; set metrics: NAME at the pool"
    }


def test_of_several_metrics_of_one_pool_the_lowest_rank_counts() -> None:
    """Spring's own metric has another name for the same pool."""
    hikari, spring = metric(), metric("dataSource", metric="jdbc.connections.max", rank=7)
    assert found(spring, hikari).sizes == {DB: [hikari]}


def test_metrics_that_differ_are_in_doubt() -> None:
    hikari, spring = metric(), metric("dataSource", 20, metric="jdbc.connections.max", rank=7)
    assert found(spring, hikari).doubts == {
        DB: "metrics of shop shop-1 differ: hikaricp.connections.max 10, jdbc.connections.max 20; "
        "set metrics: NAME at the pool"
    }


def test_a_window_in_which_the_size_changed_is_no_difference() -> None:
    hikari, spring = metric(), metric("dataSource", 10, high=20, metric="jdbc.connections.max", rank=7)
    assert found(spring, hikari).sizes == {DB: [hikari]}


def test_instances_may_have_different_sizes() -> None:
    one, two = metric(), metric(size=20, instance="shop-2")
    assert found(one, two).sizes == {DB: [one, two]}


def test_a_pool_that_is_gone_is_no_second_pool() -> None:
    """The instance made its pool again, under the next name, a minute and a half ago."""
    gone, new = metric("HikariPool-1", at_s=60), metric("HikariPool-2", at_s=151)
    assert found(gone, new).sizes == {DB: [new]}
    assert found(gone, metric("HikariPool-2", at_s=150)).sizes == {}


def test_pools_of_database_sql_are_named_by_their_attributes() -> None:
    of = "db.sql.connection.max_open"
    one = metric("", series=f"{of} db.system=postgresql", metric=of)
    two = metric("", 20, series=f"{of} db.system=mysql", metric=of)
    assert found(one).sizes == {DB: [one]}
    assert found(one, two).doubts.keys() == {DB}
    assert found(one, two, db="db.system=mysql").sizes == {DB: [two]}
