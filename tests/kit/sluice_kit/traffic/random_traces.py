"""Traces of every shape, drawn by Hypothesis: deep, wide, overlapping, skewed, orphaned, asynchronous, broken.

A stack is too slow to run once an example: `batch` collects the examples, and a test sends them all at once.
"""

import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sluice_kit.traffic.messages import SentSpan

KINDS = ("SERVER", "CLIENT", "CLIENT", "INTERNAL", "PRODUCER", "CONSUMER")
MS = 1_000_000
#: All spans of a batch lie within this time after its base, but for skewed ones.
EXTENT_NS = 40_000 * MS
#: A batch's services are those of this many groups of traces, so that windows sum over traces.
GROUPS = 20
#: What spans say of their data, by turns: nothing, old names and new, both, none that is a size.
SIZES: tuple[tuple[tuple[str, int | str], ...], ...] = (
    (),
    (("db.response.returned_rows", 12),),
    (),
    (("http.request.body.size", 300), ("http.response.body.size", 70_000)),
    (("http.response_content_length", 500),),
    (("db.response.returned_rows", 0), ("http.request_content_length", 40)),
    (),
    (("http.response_content_length", 1), ("http.response.body.size", 2)),
    (("db.response.returned_rows", "12"), ("http.response.body.size", "2")),
    (("db.response.returned_rows", -1), ("http.response.body.size", (1 << 40) + 1)),
    (("messaging.message.body.size", 64),),
    (("messaging.message.payload_size_bytes", 128), ("http.response.body.size", 1 << 40)),
    (("messaging.message_payload_size_bytes", 256),),
)
#: What spans say of whom they answered and how, by turns: nothing, no load, whose fault a failure was, and what served
#: them: a proxy, an event loop, a stream, a poll for messages.
ANSWERS: tuple[tuple[tuple[str, int | str], ...], ...] = (
    (),
    (("http.response.status_code", 200),),
    (("http.response.status_code", 404),),
    (),
    (("url.path", "/healthz"), ("http.response.status_code", 200)),
    (("http.status_code", "429"),),
    (("rpc.grpc.status_code", 5),),
    (("http.target", "/livez?verbose"),),
    (("rpc.response.status_code", "UNAVAILABLE"), ("http.response.status_code", 200)),
    (("user_agent.original", "sluice-actuator/0.1"),),
    (("http.route", "/items/{id}"), ("user_agent.original", "curl/8")),
    (("component", "proxy"), ("upstream_cluster.name", "inbound|9080||")),
    (("component", "proxy"),),
    (("thread.name", "reactor-http-nio-3"), ("component", "netty")),
    (("http.response.status_code", 101),),
    (("messaging.operation.type", "receive"),),
)
#: Every so many spans of clients are waits for a connection.
ACQUIRE = 9


@st.composite
def traces(draw: st.DrawFn, number: int) -> list[SentSpan]:
    """One trace, its times counted from 0; spans of one id stand side by side."""
    shape = draw(st.sampled_from(["deep", "wide", "any", "calls"]))
    size = draw(st.integers(1, 60 if shape in ("deep", "wide") else 24))
    tick_ns = draw(st.sampled_from([1, 1_000, 250 * 1_000, MS, 25 * MS, 100 * MS]))
    skew_ns = {"a": 0, "b": draw(st.sampled_from([0, 0, 3 * MS, -40 * MS, 2_000 * MS])), "": 0}
    broken = draw(st.booleans())
    shares_ids = shape == "calls" and draw(st.booleans())
    group = f"{number % GROUPS}"
    trace_id = (number + 1).to_bytes(16, "big")
    spans: list[SentSpan] = []

    def ticks(low: int, high: int) -> int:
        return tick_ns * draw(st.integers(low, high))

    for n in range(size):
        above = spans[_above(draw, shape, n)] if n else None
        start_ns, end_ns = _times(draw, above, ticks)
        kind, service, host = draw(st.sampled_from(KINDS)), draw(st.sampled_from("abc")), draw(st.sampled_from("ab"))
        if shape == "calls":
            kind = "CLIENT" if above is None or above.kind == "SERVER" else "SERVER"
        if above is not None and (kind == "CLIENT" or draw(st.booleans())):
            service, host = above.service.rsplit("-", 1)[1], above.host
        pair = shares_ids and above is not None and (above.kind, kind) == ("CLIENT", "SERVER")
        kept_host = host if draw(st.integers(0, 4)) else ""
        spans.append(
            SentSpan(
                service=f"{group}-{service}",
                instance=f"{service}-{host}" if draw(st.integers(0, 5)) else "",
                host=kept_host,
                trace_id=trace_id,
                span_id=above.span_id if above and pair else (n + 1).to_bytes(8, "big"),
                parent_id=(above.parent_id if pair else above.span_id) if above else b"",
                kind=kind,
                name=_name(draw, kind, number + n),
                start_ns=start_ns + skew_ns[kept_host],
                end_ns=end_ns + skew_ns[kept_host],
                error=draw(st.integers(0, 6)) == 0,
                attributes=_peer(draw, kind, group),
                sizes=SIZES[(5 * number + n) % len(SIZES)] + ANSWERS[(3 * number + n) % len(ANSWERS)],
            )
        )
    return _break(draw, spans) if broken else spans


@cache
def batch(count: int) -> list[list[SentSpan]]:
    """`count` traces; the same ones at each run."""
    drawn: list[list[SentSpan]] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def draw_one(data: st.DataObject) -> None:
        drawn.append(data.draw(traces(len(drawn))))

    draw_one()
    assert len(drawn) >= count, f"only {len(drawn)} traces were drawn"
    return drawn[:count]


def placed(batch: list[list[SentSpan]], prefix: str, base_ns: int) -> list[list[SentSpan]]:
    """The batch with trace ids of its own, from `base_ns` on, and with `prefix` before each service's name.

    The base should be on a border of the windows, so that spans lie in them alike at each run.
    """
    apart = zlib.crc32(prefix.encode()).to_bytes(4, "big") + base_ns.to_bytes(8, "big")[-4:]
    return [
        [
            replace(
                span,
                service=prefix + span.service,
                attributes=tuple((key, prefix + value) for key, value in span.attributes),
                trace_id=apart + span.trace_id[8:],
                links=tuple(apart + link[8:] for link in span.links),
                start_ns=base_ns + span.start_ns,
                end_ns=base_ns + span.end_ns,
            )
            for span in trace
        ]
        for trace in batch
    ]


def _above(draw: st.DrawFn, shape: str, n: int) -> int:
    if shape in ("deep", "calls"):
        return n - 1
    return 0 if shape == "wide" else draw(st.integers(0, n - 1))


def _times(draw: st.DrawFn, above: SentSpan | None, ticks: Callable[[int, int], int]) -> tuple[int, int]:
    if above is None:
        start_ns = draw(st.integers(0, EXTENT_NS // 2))
        return start_ns, start_ns + ticks(0, 200)
    where = draw(st.sampled_from(["inside", "inside", "inside", "whole", "touching", "empty", "over", "outside"]))
    low, high = above.start_ns, max(above.start_ns, above.end_ns)
    if where == "whole":
        return low, high
    if where == "over":
        return low - ticks(0, 30), high + ticks(0, 30)
    if where == "outside":
        return high + ticks(0, 20), high + ticks(20, 60)
    start_ns = draw(st.integers(low, high))
    if where == "touching":
        return draw(st.sampled_from([(low, start_ns), (start_ns, high)]))
    return start_ns, start_ns if where == "empty" else draw(st.integers(start_ns, high))


def _name(draw: st.DrawFn, kind: str, turn: int) -> str:
    drawn = f"op-{draw(st.integers(0, 2))}"
    return "pg-pool.connect" if kind == "CLIENT" and turn % ACQUIRE == 0 else drawn


def _peer(draw: st.DrawFn, kind: str, group: str) -> tuple[tuple[str, str], ...]:
    if kind not in ("CLIENT", "PRODUCER"):
        return ()
    return draw(
        st.sampled_from(
            [
                (),
                (),
                (("peer.service", f"{group}-b"),),
                (("service.peer.name", f"{group}-c"), ("peer.service", f"{group}-old")),
                (("server.address", f"{group}-db"),),
                (("net.peer.name", f"{group}-db"), ("db.name", "orders")),
                (("url.full", f"http://{group}-pay:8081/v1"), ("network.peer.address", f"{group}-db")),
                (("upstream_cluster", f"{group}-cluster"), ("http.url", f"http://{group}-pay/v1")),
                (("net.sock.peer.addr", f"{group}-db"),),
                (("peer.service", f"{group}-queue"), ("server.address", f"{group}-db"), ("db.namespace", "orders")),
            ]
        )
    )


def _break(draw: st.DrawFn, spans: list[SentSpan]) -> list[SentSpan]:
    """One to three faults, each at a span of its own or at two."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(spans) - 1))
        other = draw(st.integers(0, len(spans) - 1))
        span = spans[at]
        fault = draw(st.sampled_from(["orphan", "self", "cycle", "twin", "backwards", "linked", "elsewhere", "root"]))
        if fault == "orphan":
            spans[at] = replace(span, parent_id=b"\xff" * 8)
        elif fault == "self":
            spans[at] = replace(span, parent_id=span.span_id)
        elif fault == "cycle":
            spans[at] = replace(span, parent_id=spans[other].span_id)
            spans[other] = replace(spans[other], parent_id=span.span_id)
        elif fault == "twin":
            spans.insert(at + 1, replace(spans[other], span_id=span.span_id))
        elif fault == "backwards":
            spans[at] = replace(span, end_ns=span.start_ns - 1)
        elif fault == "linked":
            spans[at] = replace(span, parent_id=b"", links=(span.trace_id,))
        elif fault == "elsewhere":
            spans[at] = replace(span, links=(bytes(range(1, 17)), span.trace_id[::-1]))
        else:
            spans[at] = replace(span, parent_id=b"")
    return spans
