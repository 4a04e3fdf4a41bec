"""The commands `sluice pools watch | history | pause | resume`."""

import getpass
import sys
from datetime import UTC, datetime

import click

from sluice.cli.environment import addresses
from sluice.cli.output import EXIT_CODES, FORMS, note, output_option, print_items, say
from sluice.cli.pools.client import connect
from sluice.cli.pools.commands import select
from sluice.cli.pools.history import COLUMNS, HISTORY_SQL, parameters
from sluice.cli.pools.message_json import message_to_json
from sluice.cli.pools.options import address_option, peer_option, pool_argument, service_option, side_option
from sluice.cli.pools.selector import pool_name
from sluice.cli.pools.table import change_line
from sluice.cli.sql.http import reader, run_query
from sluice.cli.sql.result import ROWS_FORMAT, parse_rows
from sluice.cli.table import print_table


@click.command("watch", epilog=EXIT_CODES)
@service_option
@address_option
@output_option("lines", "jsonl")
def watch_command(service: str, address: str | None, output: str) -> None:
    """Print every answer as it changes, until interrupted.

    First the newest answer of each pool, then changes. A connection that is lost is made again, and nothing that
    changed meanwhile is left out. -o jsonl prints a PoolSize a line.

    \b
    Examples:
      sluice pools watch
      sluice pools watch --service cart -o jsonl | jq --unbuffered -c '[.state, .target]'
    """
    with connect(address or addresses().recommender) as client:
        for event in client.watch(service, note):
            if not event.HasField("pool_size"):
                continue
            if output == "jsonl":
                print_items([message_to_json(event.pool_size)], output)
                sys.stdout.flush()
            else:
                say(change_line(event.pool_size, datetime.now(UTC)))


@click.command("history", epilog=EXIT_CODES)
@pool_argument
@side_option
@peer_option
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Newest so many entries.")
@address_option
@output_option(*FORMS)
def history_command(
    pool: str, side: str | None, peer: str | None, limit: int, address: str | None, output: str
) -> None:
    """Show what was answered, applied, paused and resumed for one pool, oldest first.

    Read from ClickHouse (SLUICE_CLICKHOUSE); -o json prints an array of {at, what, detail}.

    \b
    Examples:
      sluice pools history cart
      sluice pools history catalogue/client/catalogue-db --limit 100 -o json
    """
    with connect(address or addresses().recommender) as client:
        named = client.resolve(select(pool, side, peer))
    server = reader()
    with run_query(server, HISTORY_SQL, ROWS_FORMAT, parameters(named, limit)) as answer:
        rows = list(parse_rows(answer.iter_lines(1 << 16)).rows)
    if output != "table":
        print_items(({"at": at, "what": what, "detail": detail} for at, what, detail in rows), output)
    elif rows:
        print_table(COLUMNS, rows)
    else:
        say(f"Nothing is recorded for {pool_name(named)}.")


@click.command("pause", epilog=EXIT_CODES)
@pool_argument
@side_option
@peer_option
@click.option("--why", required=True, help="Why; it is shown to everybody who asks for the pool.")
@click.option("--by", default=getpass.getuser, help="Who asks for it.  [default: the user]")
@click.option("--size", type=click.IntRange(1, 100_000), help="Hold it at this size.  [default: the one in force]")
@address_option
def pause_command(
    pool: str, side: str | None, peer: str | None, why: str, by: str, size: int | None, address: str | None
) -> None:
    """Let a pool keep its size, or hold it at another one, until it is resumed. Outlives a restart of the recommender.

    A size that is given is brought to all targets that apply answers, as far as the pool's bounds let it.

    \b
    Examples:
      sluice pools pause cart --why "release 2.4 is rolled out"
      sluice pools pause cart --size 32 --why "for the sale"
    """
    with connect(address or addresses().recommender) as client:
        named = pool_name(client.pause(select(pool, side, peer), by, why, size))
    say(f"{named} is paused" + (f" at {size}" if size is not None else ""))


@click.command("resume", epilog=EXIT_CODES)
@pool_argument
@side_option
@peer_option
@click.option("--by", default=getpass.getuser, help="Who asks for it.  [default: the user]")
@address_option
def resume_command(pool: str, side: str | None, peer: str | None, by: str, address: str | None) -> None:
    """End a pause.

    \b
    Example:
      sluice pools resume cart
    """
    with connect(address or addresses().recommender) as client:
        named, was_paused = client.resume(select(pool, side, peer), by)
    say(f"{pool_name(named)} is resumed" if was_paused else f"{pool_name(named)} was not paused")
