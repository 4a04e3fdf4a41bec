"""Command line: writes the streaming jobs' description of the tables, or checks that it is current."""

import sys
import textwrap
from pathlib import Path

import click

from migrate.errors import MigrateError
from schema.flink import ROWS, sink, written_tables

REPOSITORY = Path(__file__).resolve().parents[2]
PYTHON = REPOSITORY / "streaming-jobs/jobs/tables.py"
JAVA = REPOSITORY / "streaming-jobs/functions/src/main/java/dev/sluice/flink/Columns.java"


def files() -> dict[Path, str]:
    """The text of each file. Raises MigrateError."""
    known = written_tables()
    columns = "".join(
        f'    "{name}": {{\n'
        + "".join(f'        "{column}": "{kind}",\n' for column, kind in sink(table).items())
        + "    },\n"
        for name, table in known.items()
    )
    keys = "".join(f'    "{name}": "{" ".join(table.key)}",\n' for name, table in known.items())
    java = "".join(
        f'  /** Of {row.table}. */\n  static final String {name} =\n      """\n'
        f'{_lines(row.columns(known[row.table]), 6)}""";\n\n'
        for name, row in ROWS.items()
    )
    return {
        PYTHON: f'''"""Columns and keys of the sinks, from storage/clickhouse: written by `make generate`."""

COLUMNS = {{
{columns}}}

KEYS = {{
{keys}}}
''',
        JAVA: f"""package dev.sluice.flink;

/**
 * Columns of rows that are summed to rows of a table, from storage/clickhouse: written by {{@code
 * make generate}}.
 */
final class Columns {{
{java}  private Columns() {{}}
}}
""",
    }


def _lines(columns: list[str], indent: int) -> str:
    """The columns, as many a line as fit."""
    text = ", ".join(column.replace(" ", "\0") for column in columns)
    margin = " " * indent
    return textwrap.fill(text, 96, initial_indent=margin, subsequent_indent=margin).replace("\0", " ")


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file is not current.")
def cli(check: bool) -> None:
    """Writes the streaming jobs' description of the tables."""
    try:
        texts = files()
    except MigrateError as error:
        raise click.ClickException(str(error)) from error
    old = [file for file, text in texts.items() if not file.exists() or file.read_text() != text]
    for file in old:
        if not check:
            file.write_text(texts[file])
        click.echo(f"{'not current:' if check else 'wrote'} {file.relative_to(REPOSITORY)}", err=check)
    sys.exit(bool(check and old))


if __name__ == "__main__":
    cli(prog_name="python -m schema")
