"""Command line: writes docs/reference, or checks that it is current."""

import sys
from pathlib import Path

import click

from docs.generate import alerts, api, chart, commands, configuration, metrics, reasons, tables

FOLDER = Path(__file__).resolve().parents[1] / "reference"
PAGES = {
    "alerts.md": alerts.text,
    "api.md": api.text,
    "chart.md": chart.text,
    "commands.md": commands.text,
    "configuration.md": configuration.text,
    "metrics.md": metrics.text,
    "reasons.md": reasons.text,
    "tables.md": tables.text,
}


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a page is not current.")
def cli(check: bool) -> None:
    """Writes the reference pages."""
    texts = {FOLDER / name: text() for name, text in PAGES.items()}
    old = [file for file, text in texts.items() if not file.exists() or file.read_text() != text]
    for file in old:
        if not check:
            file.parent.mkdir(exist_ok=True)
            file.write_text(texts[file])
        click.echo(f"{'not current:' if check else 'wrote'} docs/reference/{file.name}", err=check)
    sys.exit(bool(check and old))


if __name__ == "__main__":
    cli(prog_name="python -m docs.generate")
