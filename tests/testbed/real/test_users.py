"""Users of a real HTTP service: counted by a server that answers slowly, refuses, or hangs up."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from testbed.real.connection import Connection, ResponseError, length_in
from testbed.real.users import Second, Users
from testbed.spans import CLIENT, Span

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
DELAY_S = 0.02


class Service:
    """Answers each request after 20 ms; notes the heads of requests, and the most that were under way together."""

    def __init__(self, answer: bytes = b"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok") -> None:
        self.answer = answer
        self.heads: list[bytes] = []
        self.connections = self.busy = self.busiest = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                self.busy += 1
                self.busiest = max(self.busiest, self.busy)
                await asyncio.sleep(DELAY_S)
                self.busy -= 1
                if not self.answer:
                    break
                writer.write(self.answer)
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()


async def serve(service: Service, users: int, seconds: float, threshold_ms: float) -> tuple[list[Second], list[Span]]:
    server = await asyncio.start_server(service, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    records: list[Second] = []
    spans: list[Span] = []
    load = Users(
        lambda: Connection(host, port), "/x", "cart", users, lambda t: 1.0,
        think_s=0.02, threshold_ms=threshold_ms, span=spans.append, second=records.append,
    )  # fmt: skip
    await load.run(seconds)
    server.close()
    return records, spans


def test_each_request_is_a_response_and_a_client_span_that_holds_the_wait() -> None:
    service = Service()
    responses, spans = asyncio.run(serve(service, users=3, seconds=1.5, threshold_ms=10_000))
    assert (
        sum(s.responses for s in responses) == sum(s.good for s in responses) == len(spans) == len(service.heads) > 10
    )
    assert service.connections == 3  # kept alive
    assert service.busiest <= 3
    assert max(s.users for s in responses) == 3
    assert [s.at for s in responses] == sorted({s.at for s in responses})
    for span in spans:
        assert (span.site.side, span.site.peer, span.failed) == (CLIENT, "cart", False)
        assert span.end_ns - span.start_ns >= 0.9 * DELAY_S * 1e9
    sent = {head.split(b"traceparent: ")[1].split(b"\r\n")[0].decode() for head in service.heads}
    assert sent == {f"00-{span.trace_id:032x}-{span.span_id:016x}-01" for span in spans}


def test_a_connection_that_the_server_closes_is_no_failure() -> None:
    service = Service(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
    responses, _ = asyncio.run(serve(service, users=1, seconds=0.5, threshold_ms=10_000))
    assert sum(s.failed for s in responses) == 0
    assert service.connections == sum(s.responses for s in responses) > 1


def test_a_chunked_answer_is_read_to_its_end() -> None:
    """As Spring Boot answers: two chunks, one with an extension, and a trailer. The next answer begins after it."""
    chunks = b"3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n"
    service = Service(b"HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    responses, _ = asyncio.run(serve(service, users=2, seconds=0.5, threshold_ms=10_000))
    assert sum(s.failed for s in responses) == 0
    assert sum(s.good for s in responses) == sum(s.responses for s in responses) > 2
    assert service.connections == 2


def test_what_is_later_than_the_threshold_is_not_good() -> None:
    responses, _ = asyncio.run(serve(Service(), users=2, seconds=0.5, threshold_ms=1))
    assert sum(s.responses for s in responses) > 0
    assert sum(s.good for s in responses) == 0
    assert sum(s.latency_ms for s in responses) >= 0.9 * 20 * sum(s.responses for s in responses)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 503 \r\nContent-Length: 0\r\n\r\n", b"", b"nonsense\r\n\r\n"])
def test_refusals_hang_ups_and_nonsense_are_failures(answer: bytes) -> None:
    responses, spans = asyncio.run(serve(Service(answer), users=2, seconds=0.5, threshold_ms=10_000))
    assert sum(s.responses for s in responses) == sum(s.failed for s in responses) == len(spans) > 0
    assert sum(s.good for s in responses) == 0
    assert all(span.failed for span in spans)


def test_a_response_that_does_not_come_ends_with_the_time_limit() -> None:
    async def ask() -> None:
        server = await asyncio.start_server(Service(), "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        connection = Connection(host, port, limit_s=0.001)
        with pytest.raises(ResponseError, match="get /x: TimeoutError"):
            await connection.get("/x", "00-1-1-01")
        server.close()

    asyncio.run(ask())


def test_length_in() -> None:
    assert length_in(b"HTTP/1.1 200 \r\ncontent-length: 17\r\n\r\n") == 17
    with pytest.raises(ValueError, match="no Content-Length"):
        length_in(b"HTTP/1.1 200 \r\nConnection: keep-alive\r\n\r\n")
