import time

import grpc
import pytest

from testbed.exporter import Exporter
from testbed.otlp import encode
from testbed.receiver import receiver
from testbed.spans import Span, SpanSite

SERVER = SpanSite("cart", "server", "", "GET /cart", (("http.route", "/cart"),), status_attribute=True)
CLIENT = SpanSite("cart", "client", "cart-db", "SELECT carts", (("server.address", "cart-db"), ("server.port", 5432)))


def span(number, site=SERVER, parent=0, failed=False):
    return Span(2**100 + number, number + 1, parent, site, "cart-1", 1_000_000_000, 1_050_000_000, failed)


def exporter(address, **more):
    settings = {"interval": 0.02, "first_backoff": 0.01, "most_backoff": 0.05, **more}
    return Exporter(address, **settings)


def wait_for(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.01)


def attributes(out):
    return {a.key: a.value.int_value if a.value.HasField("int_value") else a.value.string_value for a in out.attributes}


def test_what_stands_in_the_message():
    request = encode([span(0), span(1, CLIENT, parent=1, failed=True)])
    (group,) = request.resource_spans
    assert {a.key: a.value.string_value for a in group.resource.attributes} == {
        "service.name": "cart",
        "service.instance.id": "cart-1",
        "host.name": "shop-host-1",
    }
    first, second = group.scope_spans[0].spans
    assert first.trace_id == (2**100).to_bytes(16, "big")
    assert (first.span_id, first.parent_span_id) == ((1).to_bytes(8, "big"), b"")
    assert (first.start_time_unix_nano, first.end_time_unix_nano) == (1_000_000_000, 1_050_000_000)
    assert first.kind == first.SPAN_KIND_SERVER
    assert first.status.code == 0
    assert attributes(first) == {"http.route": "/cart", "http.response.status_code": 200}
    assert second.kind == second.SPAN_KIND_CLIENT
    assert second.parent_span_id == (1).to_bytes(8, "big")
    assert second.status.code == 2
    assert attributes(second) == {"server.address": "cart-db", "server.port": 5432, "error.type": "pool_exhausted"}


def test_everything_arrives_once_in_batches():
    with receiver() as server:
        sender = exporter(server.address, batch=100)
        sender.start()
        for number in range(1050):
            sender.offer(span(number))
        sender.stop()
        assert sorted(out.span_id for _, out in server.spans()) == [(n + 1).to_bytes(8, "big") for n in range(1050)]
        assert all(len(r.resource_spans[0].scope_spans[0].spans) <= 100 for r in server.requests)
        assert (sender.sent, sender.dropped, sender.retries) == (1050, 0, 0)


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED])
def test_a_receiver_that_is_not_ready_is_asked_again(code):
    with receiver() as server:
        server.refusals = [code] * 3
        sender = exporter(server.address)
        sender.start()
        sender.offer(span(0))
        wait_for(lambda: sender.sent == 1)
        sender.stop()
        assert (sender.retries, sender.dropped, len(server.spans())) == (3, 0, 1)


def test_a_batch_that_is_rejected_for_good_is_dropped_and_the_next_one_goes_through():
    with receiver() as server:
        server.refusals = [grpc.StatusCode.INVALID_ARGUMENT]
        sender = exporter(server.address)
        sender.start()
        sender.offer(span(0))
        wait_for(lambda: sender.dropped == 1)
        sender.offer(span(1))
        wait_for(lambda: sender.sent == 1)
        sender.stop()
        assert (sender.retries, sender.dropped) == (0, 1)


def test_a_partial_success_counts_what_was_rejected():
    with receiver() as server:
        server.rejected = 2
        sender = exporter(server.address)
        for number in range(5):
            sender.offer(span(number))
        sender.start()
        sender.stop()
        assert (sender.sent, sender.dropped) == (3, 2)


def test_a_receiver_that_is_away_costs_the_newest_spans_and_nothing_else():
    with receiver() as first:
        address = first.address
    sender = exporter(address, batch=10, queue=30)
    sender.start()
    sender.offer(span(0))
    wait_for(lambda: sender.retries >= 2)
    for number in range(1, 101):
        sender.offer(span(number))
    assert (sender.queued, sender.dropped) == (30, 70)
    with receiver(int(address.rsplit(":", 1)[1])) as server:
        wait_for(lambda: sender.sent == 31)
        sender.stop()
        assert sorted(int.from_bytes(out.span_id, "big") for _, out in server.spans()) == list(range(1, 32))


def test_stopping_without_a_receiver_ends_in_time_and_counts_the_rest():
    with receiver() as gone:
        address = gone.address
    sender = exporter(address, batch=10)
    sender.start()
    for number in range(25):
        sender.offer(span(number))
    started = time.monotonic()
    sender.stop(grace=0.5)
    assert time.monotonic() - started < 3
    assert (sender.sent, sender.dropped) == (0, 25)


def test_stopping_before_the_start_is_safe():
    exporter("127.0.0.1:1").stop()
