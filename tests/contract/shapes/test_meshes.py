"""Sidecars: a request counts once, whatever service and instance its proxies name."""

from contract.shapes.counted import Counted
from contract.shapes.otlp import CLIENT, INTERNAL, SERVER, Sent, Value, request, sent

PROXY: dict[str, Value] = {
    "component": "proxy",
    "node_id": "sidecar~10.1.2.3~reviews-v1-0.default~default.svc.cluster.local",
}
INBOUND: dict[str, Value] = {**PROXY, "upstream_cluster": "inbound|9080||;", "upstream_cluster.name": "inbound|9080||"}


def outbound(service: str) -> dict[str, Value]:
    cluster = f"outbound|9080||{service}.default.svc.cluster.local"
    return {**PROXY, "upstream_cluster": f"{cluster};", "upstream_cluster.name": cluster, "zone": ""}


def test_istio_alone_has_pools_whose_servers_are_no_pools_without_a_size() -> None:
    """Bookinfo, whose applications pass headers on and send no spans. Istio names services reviews.default; Envoy's
    resource names no instance (attributes as in envoyproxy/gateway#3102)."""
    counted = Counted(
        request(
            sent({"service.name": "productpage.default"}, Sent(1, 0, CLIENT, 0, 50, outbound("reviews"))),
            sent(
                {"service.name": "reviews.default"},
                Sent(2, 1, SERVER, 2, 48, INBOUND),
                Sent(3, 2, CLIENT, 10, 30, outbound("ratings")),
            ),
        )
    )
    assert counted.pools == {
        "productpage.default@ client reviews.default": (1, 50.0),
        "reviews.default@ server": (1, 46.0),
        "reviews.default@ client ratings.default.svc.cluster.local:9080": (1, 20.0),  # named by the cluster
    }
    assert counted.threadless == {"reviews.default/server": {"envoy": 1}}
    assert counted.left_out == {}


def test_a_sidecar_of_the_applications_name_gives_way_to_it() -> None:
    """Canonical service names (reviews for both), and `spawn_upstream_span` (envoyproxy/envoy#29659): a SERVER and a
    CLIENT span of Envoy around the application's. The collector gave Envoy's spans the pod as their instance."""
    for instance in ("reviews-v1-0", "627cc493-f310-47de-96bd-71410b7dec09", ""):
        counted = Counted(
            request(
                sent(
                    {"service.name": "reviews", "k8s.pod.name": instance},
                    Sent(1, 0, SERVER, 0, 60, INBOUND),
                    Sent(2, 1, CLIENT, 1, 59, INBOUND),
                ),
                sent(
                    {"service.name": "reviews", "service.instance.id": "reviews-v1-0"},
                    Sent(3, 2, SERVER, 20, 55),
                    Sent(4, 3, CLIENT, 30, 50, {"server.address": "db", "db.namespace": "reviews"}),
                ),
            )
        )
        assert counted.pools == {
            "reviews@reviews-v1-0 server": (1, 35.0),
            "reviews@reviews-v1-0 client db/reviews": (1, 20.0),
        }
        assert counted.left_out == {"nested": 1, "envoy-inbound": 1}
        assert counted.threadless == {}


def test_a_call_that_a_sidecar_passes_on_counts_once_under_the_applications_connection() -> None:
    """The application names an address, Envoy its cluster; the callee's span is below Envoy's."""
    for instance in ("reviews-v1-0", "envoy", ""):
        for callee, peer in (("ratings", "ratings"), ("", "ratings:9080")):
            reviews: dict[str, Value] = {"service.name": "reviews", "service.instance.id": "reviews-v1-0"}
            counted = Counted(
                request(
                    sent(
                        reviews,
                        Sent(1, 0, CLIENT, 0, 50, {"server.address": "ratings", "server.port": 9080}),
                    ),
                    sent(
                        {"service.name": "reviews", "k8s.pod.name": instance},
                        Sent(2, 1, CLIENT, 2, 48, outbound("ratings")),
                    ),
                    *([sent({"service.name": callee}, Sent(3, 2, SERVER, 4, 46))] if callee else []),
                )
            )
            assert counted.pools == {f"reviews@reviews-v1-0 client {peer}": (1, 50.0)} | (
                {"ratings@ server": (1, 42.0)} if callee else {}
            )
            assert counted.left_out == {"nested": 1}


def test_linkerds_proxies_are_no_pool() -> None:
    """All proxies are the service linkerd-proxy (linkerd/linkerd2#11157), or as an operator named them
    (linkerd/linkerd2-proxy#3245)."""
    counted = Counted(
        request(
            sent(
                {"service.name": "web", "service.instance.id": "web-0"},
                Sent(1, 0, CLIENT, 0, 50, {"server.address": "books"}),
            ),
            sent({"service.name": "linkerd-proxy"}, Sent(2, 1, CLIENT, 1, 49, {"direction": "outbound"})),
            sent({"service.name": "books-linkerd-proxy"}, Sent(3, 2, SERVER, 2, 48, {"direction": "inbound"})),
            sent({"service.name": "books", "service.instance.id": "books-0"}, Sent(4, 3, SERVER, 3, 47)),
        )
    )
    assert counted.pools == {"web@web-0 client books": (1, 50.0), "books@books-0 server": (1, 44.0)}
    assert counted.left_out == {"linkerd": 2}


def test_internal_spans_between_make_no_difference() -> None:
    """Java's controller and repository spans (INTERNAL) between a request and its query."""
    query: dict[str, Value] = {"server.address": "db", "server.port": 5432, "db.namespace": "shop"}
    shop: dict[str, Value] = {"service.name": "shop", "service.instance.id": "shop-0"}
    apart = request(sent(shop, Sent(1, 0, SERVER, 0, 50), Sent(4, 1, CLIENT, 20, 40, query)))
    between = request(
        sent(
            shop,
            Sent(1, 0, SERVER, 0, 50),
            Sent(2, 1, INTERNAL, 5, 49, {}, "CartController.add"),
            Sent(3, 2, INTERNAL, 10, 45, {}, "CartRepository.save"),
            Sent(4, 3, CLIENT, 20, 40, query),
            Sent(5, 4, INTERNAL, 21, 39),
            Sent(6, 5, CLIENT, 22, 38, query),
        )
    )
    assert (
        Counted(between).pools
        == Counted(apart).pools
        == {
            "shop@shop-0 server": (1, 50.0),
            "shop@shop-0 client db/shop": (1, 20.0),
        }
    )
