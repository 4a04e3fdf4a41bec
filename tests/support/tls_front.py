"""TLS before a server that does not speak it, as a proxy would: what comes is decrypted and passed on, and back."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def tls_front(port: int, certificates: Path) -> Iterator[int]:
    """The port of 127.0.0.1 on which `port` of it is reached by TLS alone.

    certificates: a folder as support/certificates fills it.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "certificate.pem", certificates / "key.pem")
    loop = asyncio.new_event_loop()

    async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while chunk := await reader.read(1 << 16):
                writer.write(chunk)
                await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            behind, into = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(passed_on(reader, into), passed_on(behind, writer))

    server = loop.run_until_complete(asyncio.start_server(connected, "127.0.0.1", 0, ssl=context))
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
