"""Shared by all commands: the option `-o`, the forms of results, and the error that ends with exit code 1."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

from sluice.cli.printable import printable, printable_json

T = TypeVar("T")
#: Help text of every command.
EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."
#: The values of `-o` for commands that list.
FORMS = ("table", "json", "yaml", "jsonl")


class CliError(click.ClickException):
    """Verb, object, cause and remedy, printed to standard error; exit code 1. Several problems print as a list, a line
    each."""

    exit_code = 1

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self._problems = problems

    def format_message(self) -> str:
        if len(self._problems) == 1:
            return printable(self._problems[0])
        return "\n".join(
            [f"{len(self._problems)} problems:", *(f"- {printable(problem)}" for problem in self._problems)]
        )


def say(text: str, style: str = "") -> None:
    """Prints a line of a result. Bold (`style="bold"`) on a terminal. Escapes control characters."""
    click.echo(click.style(printable(text), bold=True) if style == "bold" else printable(text))


def note(text: str) -> None:
    """Prints a line on standard error, so that scripts can pipe results."""
    click.echo(printable(text), err=True)


class ItemWriter:
    """Writes a list to standard output item by item: as one JSON or YAML document, or as a JSON object a line.

    `row_a_line`: in JSON each item stays on one line. Only text that is not printable is escaped.
    """

    def __init__(self, form: str, row_a_line: bool = False) -> None:
        self._form = form
        self._indent = None if row_a_line else 2
        self._empty = True

    def add(self, item: Any) -> None:
        if self._form == "yaml":
            text = _yaml([item])
        elif self._form == "jsonl":
            text = _json(item, None) + "\n"
        else:
            text = ("[" if self._empty else ",") + "\n  " + _json(item, self._indent).replace("\n", "\n  ")
        sys.stdout.write(text)
        self._empty = False

    def end(self) -> None:
        if self._form == "json":
            sys.stdout.write("[]\n" if self._empty else "\n]\n")
        elif self._form == "yaml" and self._empty:
            sys.stdout.write("[]\n")


def print_items(items: Iterable[Any], form: str, row_a_line: bool = False) -> None:
    """Writes all of `items` with an ItemWriter."""
    writer = ItemWriter(form, row_a_line)
    for item in items:
        writer.add(item)
    writer.end()


def print_item(item: Any, form: str) -> None:
    """Writes one object: indented JSON, YAML, or JSON on one line."""
    sys.stdout.write(_yaml(item) if form == "yaml" else _json(item, None if form == "jsonl" else 2) + "\n")


def show_list(
    items: Sequence[T],
    form: str,
    table: Callable[[Sequence[T]], object],
    empty: str,
    to_json: Callable[[T], Any] = lambda item: item,
) -> None:
    """Writes a list in the form of `-o`; as a table by `table`, or the line `empty` where there is nothing to show."""
    if form != "table":
        print_items(map(to_json, items), form)
    elif items:
        table(items)
    else:
        say(empty)


def output_option(*forms: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option `-o/--output`; the first form is the default."""
    return click.option(
        "-o", "--output", type=click.Choice(forms), default=forms[0], show_default=True, help="Form of the result."
    )


def _json(value: Any, indent: int | None) -> str:
    return printable_json(json.dumps(value, indent=indent, ensure_ascii=False))


def _yaml(value: Any) -> str:
    import yaml

    def dumped(non_ascii: bool) -> str:
        return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=non_ascii, width=120))

    text = dumped(non_ascii=True)
    return text if text.replace("\n", "").isprintable() else dumped(non_ascii=False)
