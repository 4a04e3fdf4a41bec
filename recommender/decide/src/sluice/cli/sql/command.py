"""The command `sluice sql`."""

import sys
from typing import TextIO

import click

from sluice.cli.environment import addresses
from sluice.cli.numbers import Number, Whole
from sluice.cli.output import EXIT_CODES, FORMS, CliError, note, output_option, print_items
from sluice.cli.sections import Sectioned
from sluice.cli.sql.cookbook import recipe, recipes
from sluice.cli.sql.http import NOTHING, SqlServer, computed_rows, run_query, secret
from sluice.cli.sql.result import ROWS_FORMAT, as_objects, parse_rows, print_rows, write_raw
from sluice.cli.table import columns, print_table


class QueryParameter(click.ParamType[tuple[str, str]]):
    """`name=value`."""

    name = "NAME=VALUE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        name, equals, text = str(value).partition("=")
        if not equals or not name.isidentifier():
            self.fail(f"{value!r} is not NAME=VALUE", param, ctx)
        return name, text


@click.command(
    "sql",
    cls=Sectioned,
    epilog=EXIT_CODES,
    sections={
        "Query": "file recipe_name list_recipes parameters",
        "Connection": "database user timeout",
        "Output": "rows output",
    },
)
@click.argument("query", required=False)
@click.option("--file", "file", type=click.File(encoding="utf-8"), help="Read the query from a file.")
@click.option(
    "--recipe",
    "recipe_name",
    metavar="NAME",
    help="Run a query of the cookbook.",
    shell_complete=lambda ctx, param, incomplete: [
        recipe.name for recipe in recipes() if recipe.name.startswith(incomplete)
    ],
)
@click.option("--list", "list_recipes", is_flag=True, help="List the cookbook.")
@click.option("--param", "parameters", type=QueryParameter(), multiple=True, help="Value for {NAME:Type}; repeatable.")
@click.option("--rows", type=Whole(0), default=100, show_default=True, help="Limit of rows; 0: all.")
@click.option(
    "--database",
    envvar="SLUICE_CLICKHOUSE_DATABASE",
    default="sluice",
    show_default=True,
    help="Database of table names without one.",
)
@click.option(
    "--user", envvar="SLUICE_CLICKHOUSE_READER", default="sluice_reader", show_default=True, help="ClickHouse user."
)
@click.option(
    "--timeout",
    type=Number(0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Timeout of the query.",
)
@output_option(*FORMS, "csv")
def sql(
    query: str | None,
    file: TextIO | None,
    recipe_name: str | None,
    list_recipes: bool,
    parameters: tuple[tuple[str, str], ...],
    rows: int,
    database: str,
    user: str,
    timeout: float,
    output: str,
) -> None:
    """Run one query on ClickHouse (SLUICE_CLICKHOUSE) as a read-only user.

    The query is QUERY, --file, --recipe, or standard input. -o json prints an array with an object a row, -o jsonl an
    object a line. A FORMAT in the query itself takes precedence, and the command prints that answer unchanged. The
    user's password, if any, is in SLUICE_CLICKHOUSE_READER_PASSWORD, or in the file that
    SLUICE_CLICKHOUSE_READER_PASSWORD_FILE names. SLUICE_CLICKHOUSE_CA names a PEM file of the authority that signed the
    server's certificate.

    \b
    Examples:
      sluice sql "SELECT service, sum(completions) FROM v_windows GROUP BY service"
      sluice sql --param s=cart "SELECT max(bucket) FROM windows WHERE service = {s:String}" -o json
      sluice sql --list
      sluice sql --recipe freshness -o csv > freshness.csv
    """
    if list_recipes:
        _print_cookbook(output)
        return
    text = _query_text(query, file, recipe_name)
    first = addresses().clickhouse.split(",")[0]
    server = SqlServer(first, database, user, secret("SLUICE_CLICKHOUSE_READER_PASSWORD"))
    form = "CSVWithNames" if output == "csv" else ROWS_FORMAT
    with run_query(server, text, form, dict(parameters), timeout) as answer:
        if output == "csv" or answer.headers.get("X-ClickHouse-Format", ROWS_FORMAT) != ROWS_FORMAT:
            if not write_raw(answer.iter_content(1 << 16), sys.stdout) and computed_rows(answer):
                raise CliError(NOTHING)
            return
        result = parse_rows(answer.iter_lines(1 << 16))
        if not result.names and computed_rows(answer):
            raise CliError(NOTHING)
        if output != "table":
            print_items(as_objects(result), output, row_a_line=True)
        elif left_out := print_rows(result, rows or None):
            note(f"{left_out:,} more rows; --rows 0 shows all")


def _query_text(query: str | None, file: TextIO | None, recipe_name: str | None) -> str:
    given = [source for source in (query, file, recipe_name) if source is not None]
    if len(given) > 1:
        raise click.UsageError("give one of QUERY, --file and --recipe")
    if recipe_name is not None:
        text = recipe(recipe_name).query
    elif file is not None:
        text = _text(file)
    elif query is not None:
        text = query
    elif sys.stdin.isatty():
        raise click.UsageError("give a QUERY, --file, --recipe, or a query on standard input")
    else:
        text = _text(sys.stdin)
    if not text.strip():
        raise click.UsageError("the query is empty")
    return text


def _text(file: TextIO) -> str:
    try:
        return file.read()
    except UnicodeDecodeError as error:
        raise CliError(f"cannot read {file.name}: it is not text in UTF-8: {error}") from None


def _print_cookbook(output: str) -> None:
    all_recipes = recipes()
    if output == "table":
        print_table(columns("RECIPE", "TITLE~"), ((recipe.name, recipe.title) for recipe in all_recipes))
    elif output == "csv":
        raise click.UsageError("--list has no form csv; legal: table, json, yaml, jsonl")
    else:
        print_items(({"name": recipe.name, "title": recipe.title} for recipe in all_recipes), output)
