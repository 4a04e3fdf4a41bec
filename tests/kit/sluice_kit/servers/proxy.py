"""A proxy before a server: with TLS, which the server does not speak, or with a way that takes time.

`python -m sluice_kit.servers.proxy AT PORT` is one of its own process, whose kill ends all connections.
"""

import asyncio
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def proxy(port: int, *, at: int = 0, certificates: Path | None = None, delay_s: float = 0) -> Iterator[int]:
    """The port of 127.0.0.1, `at` or a free one, on which `port` of it is reached.

    certificates: a folder as certificates/main.go fills it. Callers then speak TLS alone; the server gets plain text.
    delay_s: what a new connection takes, and each chunk of at most 64 KiB, there and back.
    """
    context = None
    if certificates:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "certificate.pem", certificates / "key.pem")
    loop = asyncio.new_event_loop()

    async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while chunk := await reader.read(1 << 16):
                await asyncio.sleep(delay_s)
                writer.write(chunk)
                await writer.drain()
        await asyncio.sleep(delay_s)
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(delay_s)
        try:
            behind, into = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(passed_on(reader, into), passed_on(behind, writer))

    server = loop.run_until_complete(asyncio.start_server(connected, "127.0.0.1", at, ssl=context))
    # Who does not trust the certificate hangs up within the handshake: nothing to tell of.
    loop.set_exception_handler(lambda *_: None)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


if __name__ == "__main__":
    with proxy(int(sys.argv[2]), at=int(sys.argv[1])):
        threading.Event().wait()
