"""Requests that come whether or not those before were answered; and the loads by their name."""

import asyncio

import pytest

from testbed.real.connection import Connection
from testbed.real.open_loop import Arrivals
from testbed.real.rates import LENGTH, LOW, RATES, SERIES
from testbed.real.test_users import Service
from testbed.real.users import Second


def test_they_do_not_wait_for_answers() -> None:
    """A service that answers nobody within the run has all of them at once."""

    class Never(Service):
        async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(1.0)
            writer.close()

    service = Never()
    seconds: list[Second] = []

    async def serve() -> None:
        server = await asyncio.start_server(service, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        await load(host, port, 50, 0.6, seconds).run(0.6)
        server.close()

    asyncio.run(serve())
    requests = sum(second.responses for second in seconds)
    # 0.6 s at 0.6 of 50 a second: 18 in the mean, none of which is answered.
    assert service.connections == requests == sum(second.failed for second in seconds)
    assert 5 <= requests <= 40
    assert max(second.users for second in seconds) >= min(5, requests)


def test_a_request_takes_a_connection_that_is_free_and_names_no_trace() -> None:
    service = Service()
    seconds: list[Second] = []

    async def serve() -> None:
        server = await asyncio.start_server(service, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        await load(host, port, 20, 1.0, seconds).run(1.5)
        server.close()

    asyncio.run(serve())
    assert len(service.heads) == sum(second.responses for second in seconds) > service.connections
    assert not any(b"traceparent" in head for head in service.heads)


def load(host: str, port: int, most: int, share: float, seconds: list[Second]) -> Arrivals:
    return Arrivals(
        lambda: Connection(host, port), "/x", "cart", most, lambda t: share, second=seconds.append, traced=False
    )


def test_series_are_whole_and_end_where_they_begin_anew() -> None:
    for name in SERIES:
        shares = [RATES[name](second) for second in range(720)]
        assert max(shares) == 1.0, name
        assert min(shares) >= 0.0
    assert RATES["twitter_10s_burst1"](0) == 0.2335  # its first line


@pytest.mark.parametrize(("name", "before", "after"), [("step_up", LOW, 1.0), ("step_down", 1.0, LOW)])
def test_steps(name: str, before: float, after: float) -> None:
    assert RATES[name](10) == before
    assert RATES[name](LENGTH - 10) == after
    assert RATES[name].lasting(72.0)(71) == after
