"""A connection that a server closes while it is idle, as Node's does after 5 s, is not a failure of the service."""

import asyncio

import pytest

from testbed.real.connection import Connection, ResponseError

ANSWER = b"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok"


async def gets(answers: list[list[bytes]], count: int, idle_s: float) -> tuple[list[object], int]:
    """What `count` requests come to, and how many connections they took. answers: of each connection, to its requests;
    after the last it is closed. idle_s: between requests."""
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        for answer in answers[connections - 1]:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    connection = Connection(*server.sockets[0].getsockname())
    results: list[object] = []
    for _ in range(count):
        try:
            results.append(await connection.get("/x", ""))
        except ResponseError as error:
            results.append(type(error))
        await asyncio.sleep(idle_s)
    connection.close()
    server.close()
    return results, connections


# Closed before the next request is written, or while it is.
@pytest.mark.parametrize("idle_s", [0.05, 0.0])
def test_after_an_idle_connection_was_closed_a_request_is_sent_by_a_new_one(idle_s: float) -> None:
    assert asyncio.run(gets([[ANSWER], [ANSWER], [ANSWER]], 3, idle_s)) == ([200, 200, 200], 3)


def test_a_new_connection_that_answers_nothing_is_a_failure() -> None:
    assert asyncio.run(gets([[ANSWER], [], [ANSWER]], 3, 0.05)) == ([200, ResponseError, 200], 3)


def test_a_part_of_an_answer_is_a_failure_and_no_request_is_sent_again() -> None:
    assert asyncio.run(gets([[ANSWER, b"HTTP/1.1 200"], [ANSWER]], 3, 0.0)) == ([200, ResponseError, 200], 2)
