"""Tables. Rich fits them to a terminal; elsewhere each row is one line of any width, for grep, awk and head."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import click

from sluice.cli.printable import printable

Row = Sequence[str]
LEAST_FOLDED = 20


@dataclass(frozen=True)
class Column:
    """`fold`: on a narrow terminal, the column that wraps. `spare`: left out where that one has too little room."""

    name: str
    right: bool = False
    fold: bool = False
    spare: bool = False
    styles: tuple[tuple[str, str], ...] = ()
    """Styles by the text of a cell, e.g. ("fail", "bold red")."""


def columns(*names: str, **styles: tuple[tuple[str, str], ...]) -> tuple[Column, ...]:
    """Columns in a short form: `NAME>` is aligned to the right, `NAME~` folds, `NAME?` is spare. styles: of a column,
    by its name."""
    return tuple(
        Column(name.rstrip(">~?"), name[-1:] == ">", name[-1:] == "~", name[-1:] == "?", styles.get(name, ()))
        for name in names
    )


def print_table(columns: Sequence[Column], rows: Iterable[Row]) -> None:
    """Escapes control characters. Keeps line breaks in cells on a terminal; elsewhere makes them blanks."""
    if sys.stdout.isatty():
        _print_fitted(columns, rows)
    else:
        for line in lines(columns, rows):
            click.echo(line)


def lines(columns: Sequence[Column], rows: Iterable[Row]) -> list[str]:
    """The header and a line a row; two blanks between columns, none at the end."""
    texts = [[column.name for column in columns], *rows]
    cells = [[printable(text.replace("\n", " ")) for text in row] for row in texts]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    return [
        "  ".join(
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ).rstrip()
        for row in cells
    ]


def _print_fitted(columns: Sequence[Column], rows: Iterable[Row]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False)
    columns, rows = _roomy(columns, [*rows], console.width)
    folding = any(column.fold for column in columns)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            Text(printable(column.name)),
            justify="right" if column.right else "left",
            overflow="fold",
            no_wrap=folding and not column.fold,
        )
    for row in rows:
        table.add_row(
            *(
                Text("\n".join(map(printable, cell.split("\n"))), style=dict(column.styles).get(cell, ""))
                for cell, column in zip(row, columns, strict=True)
            )
        )
    console.print(table)


def _roomy(columns: Sequence[Column], rows: Sequence[Row], width: int) -> tuple[Sequence[Column], Sequence[Row]]:
    """Without the spare columns where the folding one would have less than LEAST_FOLDED characters beside them."""
    fixed = [i for i, column in enumerate(columns) if not column.fold]
    taken = sum(2 + max(len(text) for text in (columns[i].name, *(row[i] for row in rows))) for i in fixed)
    if len(fixed) == len(columns) or taken + LEAST_FOLDED <= width:
        return columns, rows
    kept = [i for i, column in enumerate(columns) if not column.spare]
    return [columns[i] for i in kept], [[row[i] for i in kept] for row in rows]
