"""One user's HTTP/1.1 connection, kept alive: as little Python per request as there can be, to disturb little."""

import asyncio


class ResponseError(OSError):
    """The answer is not one that this client understands, or came after the time limit."""


class Connection:
    """GET requests to one host and port, one at a time; opened by the first, and anew after a failure.

    A server closes a connection that was idle for some seconds, of which a client may learn when it has sent the next
    request. A GET that nothing answered is sent once more, by a new connection (RFC 9110, 9.2.2; RFC 9112, 9.3.1).
    """

    def __init__(self, host: str, port: int, limit_s: float = 30.0) -> None:
        self._address = host, port
        self._limit_s = limit_s
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str, traceparent: str) -> int:
        """The status of the response, once its body is here. ``traceparent`` is W3C Trace Context; "" sends none.

        Raises:
            OSError: it could not be had; the connection is closed then.
        """
        try:
            async with asyncio.timeout(self._limit_s):
                host, port = self._address
                context = f"traceparent: {traceparent}\r\n" if traceparent else ""
                request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n{context}\r\n".encode()
                reader, answer = await self._answer_to(request)
                await read_body(reader, answer)
                if b"\r\nconnection: close" in answer.lower():
                    self.close()
                return int(answer[9:12])
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            self.close()
            raise ResponseError(f"get {path}: {error!r}") from error

    async def _answer_to(self, request: bytes) -> tuple[asyncio.StreamReader, bytes]:
        """The head of the response, and where its body comes from."""
        if self._streams:
            try:
                return await self._sent(*self._streams, request)
            except (ConnectionError, asyncio.IncompleteReadError) as error:
                self.close()
                if isinstance(error, asyncio.IncompleteReadError) and error.partial:
                    raise
        self._streams = await asyncio.open_connection(*self._address)
        return await self._sent(*self._streams, request)

    async def _sent(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
    ) -> tuple[asyncio.StreamReader, bytes]:
        writer.write(request)
        return reader, await reader.readuntil(b"\r\n\r\n")

    def close(self) -> None:
        if self._streams:
            self._streams[1].close()
            self._streams = None


async def read_body(reader: asyncio.StreamReader, head: bytes) -> None:
    """Reads a response's body to its end (RFC 9112, 6.3 and 7.1). ValueError: nothing says where that is."""
    if b"\r\ntransfer-encoding: chunked" not in head.lower():
        await reader.readexactly(length_in(head))
        return
    while length := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        await reader.readexactly(length + 2)
    while await reader.readuntil(b"\r\n") != b"\r\n":
        """A trailer."""


def length_in(head: bytes) -> int:
    """The body's bytes by Content-Length. ValueError: there is none."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    raise ValueError(f"no Content-Length in {head[:200]!r}")
