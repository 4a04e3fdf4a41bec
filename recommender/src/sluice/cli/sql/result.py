"""A result of ClickHouse as a table, as JSON or as CSV."""

import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

#: Format that the functions here read: a line of names, a line of types, then a JSON array a row.
ROWS_FORMAT = "JSONCompactEachRowWithNamesAndTypes"
_NUMERIC = ("UInt", "Int", "Float", "Decimal")


@dataclass(frozen=True)
class Rows:
    """names and types have one entry a column; `rows` can be walked once."""

    names: list[str]
    types: list[str]
    rows: Iterator[list[Any]]


def parse_rows(lines: Iterable[bytes]) -> Rows:
    """Reads ROWS_FORMAT; a statement without a result has no columns."""
    values = (json.loads(line) for line in lines if line.strip())
    return Rows(next(values, []), next(values, []), values)


def print_table(out: Console, result: Rows, most: int | None) -> int:
    """Prints at most `most` rows (None: all) and returns how many were left out."""
    if not result.names:
        return 0
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, kind in zip(result.names, result.types, strict=True):
        numeric = kind.removeprefix("Nullable(").startswith(_NUMERIC)
        table.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
    for row in itertools.islice(result.rows, most):
        table.add_row(*(Text(_cell(value)) for value in row))
    out.print(table)
    return sum(1 for _ in result.rows)


def write_json(out: TextIO, result: Rows) -> None:
    """An array with an object a row, written row by row."""
    before = "["
    for row in result.rows:
        text = json.dumps(dict(zip(result.names, row, strict=True)), ensure_ascii=False)
        out.write(f"{before}\n  {text}")
        before = ","
    out.write("[]\n" if before == "[" else "\n]\n")


def write_raw(chunks: Iterable[bytes], out: TextIO = sys.stdout) -> None:
    """Passes on what the server formatted."""
    decoder_rest = b""
    for chunk in chunks:
        decoder_rest += chunk
        whole, decoder_rest = _cut_utf8(decoder_rest)
        out.write(whole.decode("utf-8", "replace"))
    out.write(decoder_rest.decode("utf-8", "replace"))


def _cut_utf8(data: bytes) -> tuple[bytes, bytes]:
    """Cuts behind the last line, so that no character is cut in two."""
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
