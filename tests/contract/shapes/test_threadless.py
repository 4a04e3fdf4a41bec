"""Servers without a thread for each request: no pool unless somebody limits them. Their connections are pools."""

import pytest

from contract.shapes.counted import Counted
from contract.shapes.otlp import CLIENT, CONSUMER, SERVER, Sent, Value, request, sent

DB: dict[str, Value] = {"server.address": "db", "db.namespace": "shop"}


def spans(resource: dict[str, Value], scope: str, attributes: dict[str, Value], kind: int = SERVER) -> bytes:
    """A request of 50 ms, which asks a database for 20 ms."""
    of: dict[str, Value] = {"service.name": "web", "service.instance.id": "web-0", **resource}
    return request(
        sent(of, Sent(1, 0, kind, 0, 50, {"url.path": "/cart", **attributes}), scope=scope),
        sent(of, Sent(2, 1, CLIENT, 10, 30, DB), scope="db"),
    )


@pytest.mark.parametrize(
    ("rule", "resource", "scope", "attributes"),
    [
        # Resource attributes that every SDK of Node sends.
        ("nodejs", {"telemetry.sdk.language": "nodejs"}, "@opentelemetry/instrumentation-http", {}),
        ("asyncio", {"telemetry.sdk.language": "python"}, "opentelemetry.instrumentation.fastapi", {}),
        ("asyncio", {"telemetry.sdk.language": "python"}, "opentelemetry.instrumentation.aiohttp_server", {}),
        # Spring WebFlux (open-telemetry/opentelemetry-java-instrumentation#20217 has the scope).
        (
            "event-loop",
            {"telemetry.sdk.language": "java"},
            "io.opentelemetry.netty-4.1",
            {"thread.name": "reactor-http-epoll-3"},
        ),
        ("event-loop-thread", {}, "own", {"thread.name": "reactor-http-nio-3"}),
        ("event-loop-thread", {}, "own", {"thread.name": "default-nioEventLoopGroup-1-2"}),
        ("event-loop-thread", {}, "own", {"thread.name": "vert.x-eventloop-thread-0"}),
        # Spring Boot gives Tomcat an executor of this name (spring-projects/spring-boot#35704).
        ("virtual-thread", {}, "io.opentelemetry.tomcat-10.0", {"thread.name": "tomcat-handler-17"}),
    ],
)
def test_the_server_is_no_pool_and_its_client_is(
    rule: str, resource: dict[str, Value], scope: str, attributes: dict[str, Value]
) -> None:
    counted = Counted(spans(resource, scope, attributes))
    assert counted.pools == {"web@web-0 server": (1, 50.0), "web@web-0 client db/shop": (1, 20.0)}
    assert counted.threadless == {"web/server": {rule: 1}}
    assert counted.left_out == {}


@pytest.mark.parametrize(
    ("language", "scope", "attributes"),
    [
        ("java", "io.opentelemetry.tomcat-10.0", {"thread.name": "http-nio-8080-exec-4"}),
        ("python", "opentelemetry.instrumentation.flask", {}),
        ("java", "io.opentelemetry.grpc-1.6", {"thread.name": "grpc-default-executor-2"}),
    ],
)
def test_a_server_with_threads_is_a_pool(language: str, scope: str, attributes: dict[str, Value]) -> None:
    assert Counted(spans({"telemetry.sdk.language": language}, scope, attributes)).threadless == {}


def test_a_consumer_in_node_is_no_pool_either() -> None:
    counted = Counted(
        spans({"telemetry.sdk.language": "nodejs"}, "kafkajs", {"messaging.operation": "process"}, CONSUMER)
    )
    assert counted.threadless == {"web/consumer": {"nodejs": 1}}


@pytest.mark.parametrize(
    ("rule", "attributes"),
    [
        ("probe-path", {"url.path": "/healthz"}),
        ("probe-path", {"http.target": "/actuator/health/liveness?x=1", "thread.name": "reactor-http-nio-3"}),
        ("probe-agent", {"user_agent.original": "kube-probe/1.31"}),
        # Envoy's name of the header, with a scrape (kyma-project/opentelemetry-collector-components, Istio's noise).
        ("probe-agent", {"component": "proxy", "user_agent": "Envoy/HC"}),
        ("scrape-agent", {"component": "proxy", "user_agent": "vm_promscrape"}),
        ("probe-agent", {"thread.name": "tomcat-handler-1", "http.user_agent": "kube-probe/1.31"}),
    ],
)
def test_probes_of_such_servers_are_left_out_first(rule: str, attributes: dict[str, Value]) -> None:
    counted = Counted(spans({"telemetry.sdk.language": "nodejs"}, "http", {"url.path": "/", **attributes}))
    assert counted.pools == {"web@web-0 client db/shop": (1, 20.0)}
    assert counted.left_out == {rule: 1}
    assert counted.threadless == {}


def test_a_probe_of_grpc_is_left_out_by_its_name() -> None:
    health = Sent(1, 0, SERVER, 0, 1, {"rpc.system": "grpc"}, "grpc.health.v1.Health/Check")
    watch = Sent(2, 0, SERVER, 0, 3_600_000, {"rpc.system": "grpc"}, "grpc.health.v1.Health/Watch")
    counted = Counted(request(sent({"service.name": "web", "telemetry.sdk.language": "nodejs"}, health, watch)))
    assert (counted.pools, counted.left_out) == ({}, {"probe-grpc": 2})
