"""A way to a port of this machine on which everything takes longer."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

CHUNK = 1 << 16


@contextmanager
def slow_way(port: int, delay_s: float) -> Iterator[int]:
    """The port of a proxy to `port`: each byte arrives `delay_s` later, in both directions. Its connections end with
    the block."""
    loop, bound = asyncio.new_event_loop(), threading.Event()
    loop.set_exception_handler(lambda *_: None)  # connections that end with the block, or by a reset
    ports: list[int] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _talk(reader, writer, port, delay_s)

    async def listen() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        bound.set()

    def run() -> None:
        loop.create_task(listen())
        loop.run_forever()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0.1))
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    bound.wait()
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def _talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, delay_s: float) -> None:
    try:
        onward, back = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        writer.close()
        return
    await asyncio.gather(_passed(reader, back, delay_s), _passed(onward, writer, delay_s), return_exceptions=True)


async def _passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float) -> None:
    """Each chunk `delay_s` after it came, however many are on their way; at the end of the stream, the end."""
    waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
    now = asyncio.get_running_loop().time

    async def deliver() -> None:
        while True:
            due, chunk = await waiting.get()
            await asyncio.sleep(max(0.0, due - now()))
            if not chunk:
                return
            writer.write(chunk)
            await writer.drain()

    delivering = asyncio.create_task(deliver())
    try:
        while chunk := await reader.read(CHUNK):
            waiting.put_nowait((now() + delay_s, chunk))
        waiting.put_nowait((now() + delay_s, b""))
        await delivering
    finally:
        delivering.cancel()
        with suppress(OSError):
            writer.close()
