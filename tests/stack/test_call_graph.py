"""Made traces with parallel and serial calls, through the whole stack: their call trees, and who is in the graph."""

import time
from itertools import count
from typing import Any

from confluent_kafka import Producer
from neo4j import Driver
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from sluice_kit.local_stack.driver import Stack, eventually

MS = 1_000_000
SECOND = 1_000 * MS
HOUR_S = 3600
SERVER, CLIENT = Span.SPAN_KIND_SERVER, Span.SPAN_KIND_CLIENT
PARALLEL, SERIAL = 7, 3
# cart's call of its database has no other side; price is quoted while cart reads, or when it has; then mail is sent.
READ = '{"service":"cg-cart","operation":"read","stages":[[{"service":"cg-db"}]]}'
QUOTE, SEND = '{"service":"cg-price","operation":"quote"}', '{"service":"cg-mail","operation":"send"}'
TREES = {
    f'{{"service":"cg-front","operation":"GET /","stages":[{stages}]}}': traces
    for stages, traces in ((f"[{READ},{QUOTE}],[{SEND}]", PARALLEL), (f"[{READ}],[{QUOTE}],[{SEND}]", SERIAL))
}
ids = count(1)


class Trace:
    """Spans of one trace, by the instance that made them."""

    def __init__(self, start_ns: int):
        self.start_ns = start_ns
        self.trace_id = time.time_ns().to_bytes(8, "big") + next(ids).to_bytes(8, "big")
        self.requests: dict[tuple[str, str, str], ExportTraceServiceRequest] = {}

    def span(
        self, at: tuple[str, str, str], kind: Any, parent: bytes, start_ms: int, end_ms: int, name: str, peer: str = ""
    ) -> bytes:
        """`at` is service, instance and host; returns the span's id."""
        if at not in self.requests:
            request = self.requests[at] = ExportTraceServiceRequest()
            resource = request.resource_spans.add()
            for key, value in zip(("service.name", "service.instance.id", "host.name"), at, strict=True):
                resource.resource.attributes.add(key=key).value.string_value = value
            resource.scope_spans.add()
        span = self.requests[at].resource_spans[0].scope_spans[0].spans.add(
            trace_id=self.trace_id, span_id=next(ids).to_bytes(8, "big"), parent_span_id=parent, kind=kind, name=name,
            start_time_unix_nano=self.start_ns + start_ms * MS, end_time_unix_nano=self.start_ns + end_ms * MS,
        )  # fmt: skip
        if peer:
            span.attributes.add(key="peer.service").value.string_value = peer
        return span.span_id


def request_of_front(start_ns: int, nth: int, *, parallel: bool) -> Trace:
    trace = Trace(start_ns)
    front, cart = ("cg-front", "front-0", "cg-h1"), ("cg-cart", f"cart-{nth % 2}", f"cg-h{1 + nth % 2}")
    root = trace.span(front, SERVER, b"", 0, 100, "GET /")
    for at, operation, start, end in (
        (cart, "read", 10, 40),
        (("cg-price", "price-0", "cg-h2"), "quote", 20 if parallel else 40, 45),
        (("cg-mail", "mail-0", ""), "send", 50, 60),
    ):
        client = trace.span(front, CLIENT, root, start, end, operation)
        server = trace.span(at, SERVER, client, start + 1, end - 1, operation)
        if at is cart:
            trace.span(cart, CLIENT, server, 15, 20, "SELECT", peer="cg-db")
    return trace


def call(caller: str, callee: str, start_ns: int) -> Trace:
    trace = Trace(start_ns)
    root = trace.span((caller, f"{caller}-0", "cg-h1"), SERVER, b"", 0, 10, "GET /")
    trace.span((callee, f"{callee}-0", "cg-h1"), SERVER, root, 1, 9, "read")
    return trace


def produce(stack: Stack, traces: list[Trace]) -> None:
    """A message a trace: however busy the machine is, its spans are assembled."""
    producer = Producer({"bootstrap.servers": stack.address["SLUICE_KAFKA"], "acks": "all"})
    for trace in traces:
        message = ExportTraceServiceRequest()
        for request in reversed(trace.requests.values()):  # callees before their callers
            message.MergeFrom(request)
        producer.produce("otlp_spans", message.SerializeToString())
    assert producer.flush(20) == 0


def answers(graph: Driver, query: str) -> list[list[Any]]:
    return sorted(record.values() for record in graph.execute_query(query).records)


def test_trees_instances_hosts_and_operations(stack: Stack, graph: Driver) -> None:
    window = int(time.time()) // 10 * 10 - 20
    produce(
        stack,
        [
            request_of_front(window * SECOND + nth * 100 * MS, nth, parallel=nth < PARALLEL)
            for nth in range(PARALLEL + SERIAL)
        ],
    )

    def trees() -> dict[str, int]:
        query = "SELECT tree, traces FROM call_trees FINAL WHERE root_service = 'cg-front'"
        return {row["tree"]: int(row["traces"]) for row in stack.rows(query)}

    assert eventually(trees, TREES) == TREES
    (row,) = stack.rows("SELECT * FROM v_call_tree WHERE root_service = 'cg-front'")
    most_frequent = max(TREES, key=lambda tree: TREES[tree])
    assert (row["tree"], row["share"], int(row["total_traces"])) == (most_frequent, 0.7, 10)

    root = "MATCH (o:Operation {service: 'cg-front', name: 'GET /'})"
    query = root + " RETURN o.tree, o.tree_share, o.tree_traces, o.tree_total, o.tree_window, o.window"
    expected = [[most_frequent, 0.7, 7, 10, window, window]]
    assert eventually(lambda: answers(graph, query), expected) == expected

    query = """MATCH (i:Instance)-[:OF]->(s:Service) WHERE s.name STARTS WITH 'cg-'
               OPTIONAL MATCH (i)-[on:ON]->(h:Host) RETURN s.name, i.id, coalesce(h.name, ''), i.window, on.window"""
    expected = [
        ["cg-cart", "cart-0", "cg-h1", window, window],
        ["cg-cart", "cart-1", "cg-h2", window, window],
        ["cg-front", "front-0", "cg-h1", window, window],
        ["cg-mail", "mail-0", "", window, None],
        ["cg-price", "price-0", "cg-h2", window, window],
    ]
    assert eventually(lambda: answers(graph, query), expected) == expected

    query = """MATCH (o:Operation)-[:OF]->(s:Service) WHERE s.name STARTS WITH 'cg-' RETURN s.name, o.name, o.window"""
    operations = [("cart", "read"), ("front", "GET /"), ("mail", "send"), ("price", "quote")]
    assert answers(graph, query) == [[f"cg-{service}", name, window] for service, name in operations]

    query = """MATCH (a:Service)-[c:CALLS]->(b:Service) WHERE a.name STARTS WITH 'cg-'
               RETURN a.name, b.name, c.calls, c.window"""
    calls = [("cart", "db"), ("front", "cart"), ("front", "mail"), ("front", "price")]
    expected = [[f"cg-{caller}", f"cg-{callee}", 10, window] for caller, callee in calls]
    assert eventually(lambda: answers(graph, query), expected) == expected


def test_what_is_old_goes_and_old_spans_remove_nothing(stack: Stack, graph: Driver) -> None:
    now = time.time_ns()
    old_s = now // SECOND - 2 * HOUR_S
    graph.execute_query(
        """MERGE (a:Service {name: 'cg-gone'}) MERGE (b:Service {name: 'cg-stays'})
           MERGE (i:Instance {id: 'gone-0', service: 'cg-gone'}) MERGE (h:Host {name: 'cg-gone-host'})
           MERGE (o:Operation {service: 'cg-gone', name: 'work'})
           MERGE (a)-[c:CALLS]->(b) MERGE (i)-[:OF]->(a) MERGE (o)-[:OF]->(a) MERGE (i)-[on:ON]->(h)
           FOREACH (n IN [a, b, i, h, o] | SET n.window = $old) SET c.window = $old, on.window = $old""",
        old=old_s,
    )
    produce(stack, [call("cg-replayed", "cg-stays", old_s * SECOND), call("cg-new", "cg-stays", now)])
    query = "SELECT count() FROM call_edges FINAL WHERE callee = 'cg-stays'"
    assert eventually(lambda: int(stack.value(query)), 2) == 2
    # What is old is measured by the newest window that there is.
    produce(stack, [call("cg-new", "cg-stays", time.time_ns() + 10 * SECOND)])

    query = """MATCH (n) WHERE n.name IN ['cg-gone', 'cg-gone-host', 'cg-replayed', 'cg-stays', 'cg-new']
               OR n.service IN ['cg-gone', 'cg-replayed', 'cg-new'] RETURN labels(n)[0], coalesce(n.name, n.id)"""
    expected = [["Instance", "cg-new-0"], ["Operation", "GET /"], ["Service", "cg-new"], ["Service", "cg-stays"]]
    assert eventually(lambda: answers(graph, query), expected) == expected
    query = "MATCH (a)-[:CALLS]->(:Service {name: 'cg-stays'}) RETURN a.name"
    assert answers(graph, query) == [["cg-new"]]
