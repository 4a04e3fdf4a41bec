"""What every command shares: the two consoles, the option `-o`, and the error that ends with exit code 1."""

import json
import sys
from collections.abc import Callable
from typing import Any

import click
from rich.console import Console

#: Help text that every group repeats.
EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 wrong usage."


class CliError(click.ClickException):
    """Verb, object, cause, and what to do about it; printed to standard error, exit code 1."""

    exit_code = 1


def console() -> Console:
    """Results go here. Made anew for each command, so that it follows the current `sys.stdout`."""
    width = None if sys.stdout.isatty() else 160
    return Console(file=sys.stdout, width=width, highlight=False)


def error_console() -> Console:
    """Progress and notes go here, so that results can be piped."""
    return Console(file=sys.stderr, highlight=False)


def print_json(value: Any) -> None:
    """One JSON document on standard output, indented, non-ASCII text as it is."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def output_option(*formats: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option `-o/--output`; the first format is the default."""
    return click.option(
        "-o", "--output", type=click.Choice(formats), default=formats[0], show_default=True, help="Form of the result."
    )
