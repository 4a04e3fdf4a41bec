"""`python -m pictures`: writes a picture of each dashboard from a running stack's ClickHouse."""

import json
from datetime import UTC, datetime
from pathlib import Path

import click
import clickhouse_connect

from pictures.answers import variables
from pictures.page import draw
from sluice_kit.fakes.grafana import Scope

ROOT = Path(__file__).resolve().parents[2]


@click.command()
@click.argument("uids", nargs=-1)
@click.option(
    "--url", default="http://sluice_reader@127.0.0.1:8123/sluice", show_default=True, help="ClickHouse, with its user."
)
@click.option("--minutes", default=15, show_default=True, type=click.IntRange(1, 1440), help="Time range, up to now.")
@click.option("--set", "chosen", multiple=True, metavar="NAME=VALUE", help="A variable's value (repeatable).")
@click.option("--folder", default=ROOT / "docs/images/dashboards", type=click.Path(path_type=Path), show_default=True)
def cli(uids: tuple[str, ...], url: str, minutes: int, chosen: tuple[str, ...], folder: Path) -> None:
    """Draw dashboards of dashboards/json: those with the UIDS, else all.

    Example: python -m pictures sluice-pool --set service=cart --minutes 10
    """
    client = clickhouse_connect.get_client(dsn=url)
    now = int(datetime.now(UTC).timestamp() * 1000)
    scope = Scope(now - minutes * 60_000, now, 1000, {})
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted((ROOT / "dashboards/json").glob("*.json")):
        if uids and file.stem not in uids:
            continue
        board = json.loads(file.read_text())
        values = variables(board, client, scope, dict(pair.split("=", 1) for pair in chosen))
        picture = folder / f"{file.stem}.png"
        draw(board, client, Scope(scope.from_ms, now, 1000, values), picture)
        click.echo(f"{picture}: {picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    cli()
