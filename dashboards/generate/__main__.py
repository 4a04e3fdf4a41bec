"""Command line: writes dashboards/json/*.json, or checks that they are current."""

import json
import sys
from pathlib import Path

import click
from grafana_foundation_sdk.cog.encoder import JSONEncoder

from generate.boards import boards
from generate.frame import build

FOLDER = Path(__file__).resolve().parents[1] / "json"


def files() -> dict[Path, str]:
    """The JSON of each dashboard, by its file."""
    return {
        FOLDER / f"{name}.json": json.dumps(build(board), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"
        for name, board in boards().items()
    }


def stale() -> list[Path]:
    """Files that differ from the code, and files of no dashboard."""
    wanted = files()
    return [
        file
        for file in sorted(wanted.keys() | set(FOLDER.glob("*.json")))
        if not file.exists() or file.read_text() != wanted.get(file)
    ]


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file is not current.")
def cli(check: bool) -> None:
    """Writes the dashboards as JSON."""
    old = stale()
    for file in old:
        if check:
            click.echo(f"not current: {file.name}; run `make generate`", err=True)
        elif text := files().get(file):
            file.write_text(text)
            click.echo(f"wrote {file.name}")
        else:
            file.unlink()
            click.echo(f"removed {file.name}")
    if check and old:
        sys.exit(1)


if __name__ == "__main__":
    cli(prog_name="python -m generate")
