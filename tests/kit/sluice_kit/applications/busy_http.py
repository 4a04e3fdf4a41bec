"""An HTTP/1.1 service that counts what it has in flight, and callers that always ask it for one thing more."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Busy:
    """Times are of `time.monotonic`. statuses: answers that callers got, by status."""

    def __init__(self) -> None:
        self.address = ""
        self.statuses: Counter[str] = Counter()
        self._in_flight = 0
        self._levels: deque[tuple[float, int]] = deque(maxlen=100_000)

    def most(self, seconds: float) -> int:
        """In flight at once within the newest seconds."""
        since = time.monotonic() - seconds
        return max((count for at, count in list(self._levels) if at >= since), default=0)

    async def serve(self, takes_s: float) -> asyncio.Server:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while await reader.readuntil(b"\r\n\r\n"):
                    self._in_flight += 1
                    self._levels.append((time.monotonic(), self._in_flight))
                    await asyncio.sleep(takes_s)
                    self._in_flight -= 1
                    writer.write(ANSWER)
                    await writer.drain()
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def call(self, port: int) -> None:
        """One thing after the other, on a connection of its own."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while True:
            writer.write(b"GET / HTTP/1.1\r\nHost: b\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split()[0])
            await reader.readexactly(length)
            self.statuses[head.split()[1].decode()] += 1


@contextmanager
def busy_service(takes_s: float) -> Iterator[Busy]:
    """In a thread of its own."""
    busy, loop = Busy(), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(busy.serve(takes_s), loop).result(10)
    try:
        yield busy
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


@contextmanager
def callers(busy: Busy, port: int, count: int) -> Iterator[None]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    calls = [asyncio.run_coroutine_threadsafe(busy.call(port), loop) for _ in range(count)]
    try:
        yield
        failed = [call.exception(0) for call in calls if call.done()]
        assert not failed, failed
    finally:
        for call in calls:
            call.cancel()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
