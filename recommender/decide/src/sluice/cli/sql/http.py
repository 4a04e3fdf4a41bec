"""Runs one query over ClickHouse's HTTP interface."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

from sluice.cli.environment import addresses, with_scheme
from sluice.cli.output import CliError

_CONNECT_S = 5.0
_ERROR = re.compile(
    r"(?:Code: \d+\. )?(?:DB::\w+: )*(?P<text>.*?)\s*(?:\((?P<name>[A-Z0-9_]+)\))?\s*(?:\(version [^)]*\)+)?$"
)
_LONGEST_ERROR = 400
NOTHING = "ClickHouse answered a query with nothing, not even the names of columns: is its disk full?"
"""With wait_end_of_query it writes the answer to its disk first. Where that is full, it says HTTP 200 and nothing."""


@dataclass(frozen=True)
class SqlServer:
    """Address and user of queries. password may be empty."""

    url: str
    database: str = "sluice"
    user: str = "sluice_reader"
    password: str = ""


def reader() -> SqlServer:
    """The server of the environment, with the read-only user SLUICE_CLICKHOUSE_READER (sluice_reader)."""
    database = os.environ.get("SLUICE_CLICKHOUSE_DATABASE") or "sluice"
    user = os.environ.get("SLUICE_CLICKHOUSE_READER") or "sluice_reader"
    return SqlServer(addresses().clickhouse.split(",")[0], database, user, secret("SLUICE_CLICKHOUSE_READER_PASSWORD"))


def secret(name: str) -> str:
    """The contents of the file NAME_FILE, else the variable NAME; "" without either."""
    if path := os.environ.get(f"{name}_FILE"):
        try:
            return Path(path).read_text().removesuffix("\n")
        except OSError as error:
            raise CliError(f"cannot read {name}_FILE={path}: {error.strerror}") from None
    return os.environ.get(name, "")


@contextmanager
def run_query(
    server: SqlServer, query: str, output_format: str, parameters: Mapping[str, str], timeout_s: float = 60.0
) -> Iterator[requests.Response]:
    """Runs `query`; the answer's body is in `output_format` unless the query names a FORMAT itself.

    `parameters` are values for `{name:Type}`. The server sends nothing before the query is done, so an error never
    follows half a result; only a broken connection can cut one off. Raises CliError with one line, also while the
    caller reads the answer within the block.
    """
    options = {f"param_{name}": _escaped(value) for name, value in parameters.items()}
    options |= {"database": server.database, "default_format": output_format, "wait_end_of_query": "1"}
    headers = {"X-ClickHouse-User": server.user} | ({"X-ClickHouse-Key": server.password} if server.password else {})
    try:
        answer = requests.post(
            with_scheme(server.url) + "/",
            params=options,
            data=query.encode(),
            headers=headers,
            stream=True,
            verify=os.environ.get("SLUICE_CLICKHOUSE_CA") or True,
            timeout=(_CONNECT_S, timeout_s),
        )
    except requests.Timeout:
        raise CliError(f"ClickHouse at {server.url} did not answer within {timeout_s:g} s") from None
    except requests.RequestException as error:
        raise CliError(unreachable(server.url, error)) from None
    except OSError as error:
        raise CliError(f"cannot read SLUICE_CLICKHOUSE_CA: {error}") from None
    with answer:
        try:
            if not answer.ok:
                raise CliError(f"ClickHouse: {one_line(answer.text, answer.status_code)}")
            yield answer
        except requests.RequestException as error:
            raise CliError(f"the connection to ClickHouse at {server.url} broke: {_cause(error)}") from None


def computed_rows(answer: requests.Response) -> int:
    """How many rows the server says that the result has."""
    found = re.search(r'"result_rows":"?(\d+)', answer.headers.get("X-ClickHouse-Summary", ""))
    return int(found[1]) if found else 0


def unreachable(url: str, error: Exception) -> str:
    return (
        f"cannot reach ClickHouse at {url}: {_cause(error)}. Start the stack with `make up`, or set "
        "SLUICE_CLICKHOUSE; `./sluice doctor` names the stage that is down."
    )


def one_line(text: str, status: int) -> str:
    """The server's error without code, version and line breaks: `message (NAME)`."""
    flat = " ".join(text.split())
    match = _ERROR.match(flat)
    if not flat or match is None:
        return f"HTTP {status}"
    message = match["text"]
    if len(message) > _LONGEST_ERROR:
        message = message[:_LONGEST_ERROR] + " ..."
    return f"{message} ({match['name']})" if match["name"] else message


def _escaped(value: str) -> str:
    """Escapes as in TabSeparated: the server parses parameters so."""
    return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _cause(error: Exception) -> str:
    text = str(error)
    for known in ("Connection refused", "Name or service not known", "No route to host", "timed out"):
        if known.lower() in text.lower():
            return known.lower()
    return text
