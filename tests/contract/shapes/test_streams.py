"""What is open for long and holds no thread; and consumers of messages."""

import pytest

from contract.shapes.counted import Counted
from contract.shapes.otlp import (
    CLIENT,
    CONSUMER,
    HOUR_MS,
    INTERNAL,
    PRODUCER,
    SERVER,
    Sent,
    Value,
    request,
    sent,
)

SHOP: dict[str, Value] = {"service.name": "shop", "service.instance.id": "shop-0"}
DB: dict[str, Value] = {"server.address": "db", "db.namespace": "shop"}
RPC: dict[str, Value] = {
    "rpc.system": "grpc",
    "rpc.service": "flagd.sync.v1.FlagSyncService",
    "server.address": "flagd",
}


@pytest.mark.parametrize(
    ("rule", "kind", "end_ms", "attributes"),
    [
        # The upgrade of a WebSocket (open-telemetry/opentelemetry-java-instrumentation#20217).
        ("websocket", SERVER, HOUR_MS, {"http.response.status_code": 101}),
        ("websocket", CLIENT, 2.0, {"http.status_code": "101", "server.address": "feed"}),
        # ASGI's spans of WebSockets have no status (open-telemetry/opentelemetry-python-contrib#505).
        ("websocket-scheme", SERVER, HOUR_MS, {"http.scheme": "ws"}),
        ("websocket-scheme", SERVER, HOUR_MS, {"network.protocol.name": "websocket"}),
        # Streams last as long as clients listen (lokalise/shared-ts-libs#1127). Headers are arrays.
        ("sse", SERVER, 300_000.0, {"http.response.header.content-type": ["text/event-stream;charset=UTF-8"]}),
        # A stream is one span for its lifetime (open-telemetry/semantic-conventions#3703).
        ("grpc-stream", SERVER, 600_000.0, RPC),
        ("grpc-stream", CLIENT, HOUR_MS, RPC),
        ("long-poll", SERVER, 25_000.0, {"http.target": "/socket.io/?EIO=4&transport=polling"}),
        ("long", SERVER, HOUR_MS, {"url.path": "/watch"}),
    ],
)
def test_a_stream_is_left_out_and_the_work_below_it_counts(
    rule: str, kind: int, end_ms: float, attributes: dict[str, Value]
) -> None:
    counted = Counted(
        request(
            sent(
                SHOP,
                Sent(1, 0, kind, 0, end_ms, attributes),
                Sent(2, 1, INTERNAL, 0.5, 1.5, {}, "/feed websocket receive"),
                Sent(3, 2, CLIENT, 0.5, 1.5, DB),
            )
        )
    )
    assert counted.pools == {"shop@shop-0 client db/shop": (1, 1.0)}
    assert counted.left_out == {rule: 1}


@pytest.mark.parametrize(
    ("kind", "end_ms", "attributes", "pool"),
    [
        (SERVER, 60_000.0, RPC, "shop@shop-0 server"),
        (CLIENT, 20.0, RPC, "shop@shop-0 client flagd"),
        (SERVER, 30_000.0, {"http.response.header.content-type": ["text/event-stream"]}, "shop@shop-0 server"),
        (SERVER, 900.0, {"http.target": "/socket.io/?EIO=4&transport=polling"}, "shop@shop-0 server"),
        (SERVER, 600_000.0, {"url.path": "/report"}, "shop@shop-0 server"),
        (CLIENT, 900_000.0, DB, "shop@shop-0 client db/shop"),  # a long query holds its connection
    ],
)
def test_shorter_calls_of_the_same_kind_are_work(
    kind: int, end_ms: float, attributes: dict[str, Value], pool: str
) -> None:
    counted = Counted(request(sent(SHOP, Sent(1, 0, kind, 0, end_ms, attributes))))
    assert counted.pools == {pool: (1, min(end_ms, 600_000.0))}


def operation(kind: str, messages: int = 3) -> dict[str, Value]:
    return {
        "messaging.system": "kafka",
        "messaging.destination.name": "orders",
        "messaging.operation.type": kind,
        "messaging.batch.message_count": messages,
    }


def test_a_poll_waits_and_the_processing_of_its_batch_holds_a_thread() -> None:
    """The Java agent's receive span with links, and a process span of the batch
    (open-telemetry/opentelemetry-java-instrumentation#4041)."""
    counted = Counted(
        request(
            sent(
                SHOP,
                Sent(1, 0, CONSUMER, 0, 4_000, operation("receive"), "orders receive", linked=(7, 8, 9)),
                Sent(2, 1, CONSUMER, 4_000, 4_120, operation("process"), "orders process", linked=(7, 8, 9)),
                Sent(3, 2, CLIENT, 4_010, 4_030, DB),
            )
        )
    )
    assert counted.pools == {"shop@shop-0 consumer": (1, 120.0), "shop@shop-0 client db/shop": (1, 20.0)}
    assert counted.left_out == {"message-receive": 1}


def test_each_message_of_a_batch_is_processed_after_the_other() -> None:
    """Newer conventions: a poll is a CLIENT span; older name its operation `messaging.operation`."""
    receive: dict[str, Value] = {
        "messaging.system": "kafka",
        "messaging.operation": "receive",
        "server.address": "broker",
    }
    counted = Counted(
        request(
            sent(
                SHOP,
                Sent(1, 0, CLIENT, 0, 4_000, receive, "poll orders"),
                Sent(2, 1, CONSUMER, 4_000, 4_040, operation("process", 1), linked=(7,)),
                Sent(3, 1, CONSUMER, 4_040, 4_080, operation("process", 1), linked=(8,)),
            )
        )
    )
    assert counted.pools == {"shop@shop-0 consumer": (2, 80.0)}
    assert counted.left_out == {"message-receive": 1}


def test_a_batch_of_messages_is_sent_once() -> None:
    """A `create` span for each message of a batch, and one that sends it (semantic conventions, batch sending)."""
    broker: dict[str, Value] = {"server.address": "broker", "messaging.system": "kafka"}
    counted = Counted(
        request(
            sent(
                SHOP,
                Sent(1, 0, PRODUCER, 0, 1, {**broker, "messaging.operation.type": "create"}),
                Sent(2, 0, PRODUCER, 1, 2, {**broker, "messaging.operation.type": "create"}),
                Sent(3, 0, CLIENT, 2, 12, {**broker, "messaging.operation.type": "send"}, linked=(1, 1)),
            )
        )
    )
    assert counted.pools == {"shop@shop-0 client broker": (1, 10.0)}
    assert counted.left_out == {"message-create": 2}
