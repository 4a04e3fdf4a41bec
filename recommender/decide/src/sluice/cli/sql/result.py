"""Results of ClickHouse: as rows, and in the server's own formats."""

import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from sluice.cli.output import CliError
from sluice.cli.printable import printable
from sluice.cli.sql.http import NOTHING, SqlServer, reader, run_query
from sluice.cli.table import Column, print_table

#: The format that this module parses: a line of names, a line of types, then a JSON array a row.
ROWS_FORMAT = "JSONCompactEachRowWithNamesAndTypes"
_NUMERIC = ("UInt", "Int", "Float", "Decimal")


@dataclass(frozen=True)
class ResultRows:
    """names and types have one entry a column; `rows` can be iterated once."""

    names: list[str]
    types: list[str]
    rows: Iterator[list[Any]]


def parse_rows(lines: Iterable[bytes]) -> ResultRows:
    """Parses ROWS_FORMAT; a statement without a result has no columns."""
    values = (json.loads(line) for line in lines if line.strip())
    return ResultRows(next(values, []), next(values, []), values)


def read_rows(
    query: str, parameters: Mapping[str, str], server: SqlServer | None = None, timeout_s: float = 60.0
) -> ResultRows:
    """All rows of a query on `server`, by default the one of the environment. Raises CliError."""
    with run_query(server or reader(), query, ROWS_FORMAT, parameters, timeout_s) as answer:
        result = parse_rows(answer.iter_lines(1 << 16))
        if not result.names:
            raise CliError(NOTHING)
        return ResultRows(result.names, result.types, iter(list(result.rows)))


def print_rows(result: ResultRows, most: int | None) -> int:
    """Prints at most `most` rows (None: all) as a table and returns the number of the others."""
    if not result.names:
        return 0
    columns = [
        Column(name, right=kind.removeprefix("Nullable(").startswith(_NUMERIC), fold=True)
        for name, kind in zip(result.names, result.types, strict=True)
    ]
    print_table(columns, ([*map(_cell, row)] for row in itertools.islice(result.rows, most)))
    return sum(1 for _ in result.rows)


def as_objects(result: ResultRows) -> Iterator[dict[str, Any]]:
    """The rows as objects, one at a time."""
    return (dict(zip(result.names, row, strict=True)) for row in result.rows)


def write_raw(chunks: Iterable[bytes], out: TextIO = sys.stdout) -> int:
    """Passes on the server's own format; on a terminal, escapes control characters. The number of bytes."""
    shown = _printable_lines if out.isatty() else str
    decoder_rest, size = b"", 0
    for chunk in chunks:
        size += len(chunk)
        decoder_rest += chunk
        complete, decoder_rest = _cut_utf8(decoder_rest)
        out.write(shown(complete.decode("utf-8", "replace")))
    out.write(shown(decoder_rest.decode("utf-8", "replace")))
    return size


def _printable_lines(text: str) -> str:
    """Escapes all but tabs and line breaks, which formats need."""
    return re.sub(r"[^\t\n]+", lambda piece: printable(piece[0]), text)


def _cut_utf8(data: bytes) -> tuple[bytes, bytes]:
    """Splits after the last line, so that no character is split."""
    at = data.rfind(b"\n") + 1
    return data[:at], data[at:]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.6g}"
    return json.dumps(value, ensure_ascii=False)
