"""Command line: writes dashboards/json/*.json, or checks that they are current."""

import json
import sys
from pathlib import Path

import click
from grafana_foundation_sdk.cog.encoder import JSONEncoder

from generate import sluice

FOLDER = Path(__file__).resolve().parents[1] / "json"


def files() -> dict[Path, str]:
    """The JSON of each dashboard, by its file."""
    return {FOLDER / "sluice.json": json.dumps(sluice.build(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"}


def stale() -> list[Path]:
    """Files that differ from the code."""
    return [file for file, text in files().items() if not file.exists() or file.read_text() != text]


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file is not current.")
def cli(check: bool) -> None:
    """Writes the dashboards as JSON."""
    old = stale()
    for file in old:
        if check:
            click.echo(f"not current: {file.name}; run `make generate`", err=True)
        else:
            file.write_text(files()[file])
            click.echo(f"wrote {file.name}")
    if check and old:
        sys.exit(1)


if __name__ == "__main__":
    cli(prog_name="python -m generate")
