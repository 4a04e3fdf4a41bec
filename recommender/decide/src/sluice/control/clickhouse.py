"""The decider's connection to ClickHouse, which only reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError
from clickhouse_connect.driver.external import ExternalData

from sluice.collect import native
from sluice.collect.native import Arrays, Column
from sluice.collect.query import Table, TooLargeError

DATABASE = "sluice"
READER = "sluice_reader"
# A period must end: a database that hangs is treated as one that is down.
CONNECT_S, ANSWER_S = 2, 20
# Its errors for more memory, rows or bytes of a result than a user may have.
TOO_LARGE = (241, 396)


class UrlError(Exception):
    """A URL that names no ClickHouse; the message says what is legal."""


def connection(environment: Mapping[str, str], answered: Callable[[], None]) -> ClickHouse:
    """Of the user who only reads; as there."""
    url = environment.get("SLUICE_CLICKHOUSE") or "http://127.0.0.1:8123"
    return ClickHouse(url, READER, environment.get("SLUICE_CLICKHOUSE_READER_PASSWORD", ""), answered)


class ClickHouse:
    """One user's connection, made at the first use and made again after a failure. For one thread at a time.

    url: http[s]://[user:password@]host[:port]; a user in it stands in for `user` and `password`. UrlError for anything
    else: a host that was not understood must not silently become this machine.
    """

    def __init__(self, url: str, user: str, password: str = "", answered: Callable[[], None] = lambda: None) -> None:
        """answered: called after each query that was."""
        self.answered = answered
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if host is None or parts.scheme not in ("http", "https"):
            raise UrlError("SLUICE_CLICKHOUSE is not legal; legal: http[s]://[user:password@]host[:port]")
        self._host, self._port = host, port or 8123
        self._secure = parts.scheme == "https"
        self._user, self._password = user, password
        if parts.username:
            self._user, self._password = unquote(parts.username), unquote(parts.password or "")
        self._client: Client | None = None

    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[Any]]:
        """The result's columns, of any types; raises clickhouse_connect's errors."""
        with _Connection(self) as client:
            return [list(column) for column in client.query(sql, parameters=parameters).result_columns]

    def arrays(self, sql: str, parameters: dict[str, object], table: Table) -> list[Column | Arrays]:
        """The result's columns, of whole numbers or arrays of them; `table` is sent along.

        Raises TooLargeError, clickhouse_connect's errors, and NativeError for an answer that is cut off.
        """
        data = ExternalData(
            file_name=table.name,
            data="\n".join(map(json.dumps, table.rows)).encode(),
            fmt="JSONCompactEachRow",
            structure=list(table.columns),
        )
        with _Connection(self) as client:
            try:
                return native.columns(client.raw_query(sql, parameters=parameters, external_data=data, fmt="Native"))
            except DatabaseError as cause:
                if cause.code in TOO_LARGE:
                    raise TooLargeError(str(cause)) from cause
                raise

    def connect(self) -> Client:
        if self._client is None:
            self._client = clickhouse_connect.get_client(
                host=self._host,
                port=self._port,
                secure=self._secure,
                username=self._user,
                password=self._password,
                database=DATABASE,
                connect_timeout=CONNECT_S,
                send_receive_timeout=ANSWER_S,
                query_retries=0,
                autogenerate_session_id=False,
            )
        return self._client

    def forget(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None


class _Connection:
    def __init__(self, owner: ClickHouse) -> None:
        self._owner = owner

    def __enter__(self) -> Client:
        return self._owner.connect()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is not None:
            self._owner.forget()
        else:
            self._owner.answered()
