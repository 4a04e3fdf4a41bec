"""The decider's read-only connection to ClickHouse."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import unquote, urlsplit

import clickhouse_connect
import urllib3
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError, OperationalError
from clickhouse_connect.driver.external import ExternalData

from sluice.clickhouse import native
from sluice.clickhouse.native import Arrays, Column
from sluice.clickhouse.table import Table, TooLargeError

DATABASE = "sluice"
READER = "sluice_reader"
# A period must end, so a database that hangs counts as down.
CONNECT_S, ANSWER_S = 2, 20
# ClickHouse's error codes for a user's limits of memory, and of rows or bytes of a result.
TOO_LARGE = (241, 396)


# ClickHouse's error codes, over its versions, for an unknown user and for a wrong or missing password.
LOGIN = (192, 193, 194, 516)


class UrlError(Exception):
    """A URL without a ClickHouse host. The message has the legal form."""


class NotLetInError(Exception):
    """The server, or the check of its certificate, refuses the connection for a setting; the message names it."""


def connection(environment: Mapping[str, str], answered: Callable[[], None]) -> ClickHouse:
    """A connection as the read-only user of the environment. Also raises UrlError for files that are not usable."""
    url = environment.get("SLUICE_CLICKHOUSE") or "http://127.0.0.1:8123"
    password = secret(environment, "SLUICE_CLICKHOUSE_READER_PASSWORD")
    database = environment.get("SLUICE_CLICKHOUSE_DATABASE") or DATABASE
    user = environment.get("SLUICE_CLICKHOUSE_READER") or READER
    return ClickHouse(url, user, password, answered, database, authority(environment))


def authority(environment: Mapping[str, str]) -> str:
    """The path in SLUICE_CLICKHOUSE_CA, a file with certificates; "" without it. Raises UrlError."""
    path = environment.get("SLUICE_CLICKHOUSE_CA", "")
    if path:
        try:
            ssl.create_default_context(cafile=path)
        except OSError as cause:
            why = "holds no certificate" if isinstance(cause, ssl.SSLError) else cause.strerror
            raise UrlError(f"read SLUICE_CLICKHOUSE_CA={path}: {why}") from cause
    return path


def secret(environment: Mapping[str, str], name: str) -> str:
    """The contents of the file NAME_FILE; "" without it. Raises UrlError, also for a password in the variable NAME."""
    if environment.get(name):
        raise UrlError(f"{name} is not legal; legal: {name}_FILE=PATH, of a file that holds the password")
    if path := environment.get(f"{name}_FILE"):
        try:
            return Path(path).read_text().removesuffix("\n")
        except OSError as cause:
            raise UrlError(f"read {name}_FILE={path}: {cause.strerror}") from cause
    return ""


class Server(NamedTuple):
    host: str
    port: int
    secure: bool
    user: str
    password: str


def _server(url: str, user: str, password: str) -> Server:
    """The parts of a URL. Raises UrlError."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or parts.scheme not in ("http", "https"):
        raise UrlError("SLUICE_CLICKHOUSE is not legal; legal: http[s]://[user:password@]host[:port], comma-separated")
    secure = parts.scheme == "https"
    if parts.username:
        user, password = unquote(parts.username), unquote(parts.password or "")
    return Server(host, port or (8443 if secure else 8123), secure, user, password)


def _of_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError | urllib3.exceptions.SSLError):
            return True
        reason = getattr(error, "reason", None)
        error = reason if isinstance(reason, Exception) else error.__cause__ or error.__context__
    return False


def _refuse_nothing(answered: bool, summary: Mapping[str, Any]) -> None:
    """The server writes answers to its disk first (wait_end_of_query). Where that is full it says HTTP 200 and nothing,
    which is not "no rows": then this raises OperationalError. summary: the header X-ClickHouse-Summary."""
    if not answered and int(summary.get("result_rows", 0)):
        raise OperationalError("it has rows and answered with nothing: is its disk full?")


class ClickHouse:
    """One user's connection. It connects at the first use, and again after a failure. For one thread at a time.

    url: http[s]://[user:password@]host[:port], or several, of replicas, comma-separated: after a failure, the next one
    is used. A user in the URL takes precedence over `user` and `password`. Raises UrlError for any other URL: a typo
    must not silently mean this machine.
    """

    def __init__(
        self,
        url: str,
        user: str,
        password: str = "",
        answered: Callable[[], None] = lambda: None,
        database: str = DATABASE,
        authority: str = "",
    ) -> None:
        """answered: called after each successful query. authority: PEM file that signed the servers' certificates."""
        self.answered = answered
        self._servers = [_server(address, user, password) for address in url.split(",")]
        self._database, self._authority = database, authority
        self._client: Client | None = None

    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[Any]]:
        """The result's columns, of any types. Raises NotLetInError and clickhouse_connect's errors."""
        with _Connection(self) as client:
            result = client.query(sql, parameters=parameters)
            _refuse_nothing(bool(result.row_count), result.summary)
            return [list(column) for column in result.result_columns]

    def arrays(self, sql: str, parameters: dict[str, object], table: Table) -> list[Column | Arrays]:
        """The result's columns, of whole numbers or arrays of them. Sends `table` with the query.

        Raises TooLargeError, NotLetInError, clickhouse_connect's errors, and NativeError for a truncated answer.
        """
        data = ExternalData(
            file_name=table.name,
            data="\n".join(map(json.dumps, table.rows)).encode(),
            fmt="JSONCompactEachRow",
            structure=list(table.columns),
        )
        with _Connection(self) as client:
            try:
                # raw_query gives no headers. As it does, wait: an error comes as one, not at the end of half an answer.
                stream = client.raw_stream(
                    sql, parameters=parameters, settings={"wait_end_of_query": "1"}, external_data=data, fmt="Native"
                )
                answer = cast(urllib3.HTTPResponse, stream)
                body = answer.data
                _refuse_nothing(bool(body), json.loads(answer.headers.get("X-ClickHouse-Summary", "{}")))
                return native.columns(body)
            except urllib3.exceptions.HTTPError as cause:
                raise OperationalError(f"its answer was cut off: {cause}") from cause
            except DatabaseError as cause:
                if cause.code in TOO_LARGE:
                    raise TooLargeError(str(cause)) from cause
                raise

    def connect(self) -> Client:
        if self._client is None:
            server = self._servers[0]
            self._client = clickhouse_connect.get_client(
                host=server.host,
                port=server.port,
                secure=server.secure,
                ca_cert=self._authority or None,
                username=server.user,
                password=server.password,
                database=self._database,
                connect_timeout=CONNECT_S,
                send_receive_timeout=ANSWER_S,
                query_retries=0,
                autogenerate_session_id=False,
            )
        return self._client

    def not_let_in(self, error: BaseException) -> NotLetInError | None:
        """The error with the setting that is at fault; None for other errors."""
        server = self._servers[0]
        if isinstance(error, DatabaseError) and error.code in LOGIN:
            login = f"SLUICE_CLICKHOUSE_READER={server.user} or SLUICE_CLICKHOUSE_READER_PASSWORD_FILE"
            return NotLetInError(f"{server.host}:{server.port} refuses {login}: {error}")
        if _of_tls(error):
            set_to = f"SLUICE_CLICKHOUSE_CA={self._authority}" if self._authority else "SLUICE_CLICKHOUSE_CA is not set"
            return NotLetInError(f"TLS with {server.host}:{server.port} fails, {set_to}: {error}")
        return None

    def forget(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        self._servers = [*self._servers[1:], self._servers[0]]


class _Connection:
    def __init__(self, owner: ClickHouse) -> None:
        self._owner = owner

    def __enter__(self) -> Client:
        try:
            return self._owner.connect()
        except Exception as error:
            self._failed(error)
            raise

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._failed(error)
        else:
            self._owner.answered()

    def _failed(self, error: BaseException) -> None:
        refusal = self._owner.not_let_in(error)
        self._owner.forget()
        if refusal is not None:
            raise refusal from error
