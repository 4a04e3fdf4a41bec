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
    """Print every decision when it changes, until you interrupt the command.

    Prints the newest decision of each pool first, then changes. After a lost connection, it connects again and prints
    all pools that changed meanwhile. -o jsonl prints a PoolSize a line.

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
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Number of entries.")
@address_option
@output_option(*FORMS)
def history_command(
    pool: str, side: str | None, peer: str | None, limit: int, address: str | None, output: str
) -> None:
    """Show one pool's decisions, actuations, pauses and resumes, oldest first.

    The history is in ClickHouse (SLUICE_CLICKHOUSE). -o json prints an array of {at, what, detail}.

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
        say(f"{pool_name(named)} has no history.")


@click.command("pause", epilog=EXIT_CODES)
@pool_argument
@side_option
@peer_option
@click.option("--why", required=True, help="Reason; everybody who looks at the pool sees it.")
@click.option("--by", default=getpass.getuser, help="Who requests it.  [default: the user]")
@click.option("--size", type=click.IntRange(1, 100_000), help="Hold it at this size.  [default: the one in force]")
@address_option
def pause_command(
    pool: str, side: str | None, peer: str | None, why: str, by: str, size: int | None, address: str | None
) -> None:
    """Keep a pool's size, or hold it at another one, until you resume it. A restart of the recommender keeps the pause.

    All targets that apply decisions get the size of --size, within the pool's bounds.

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
@click.option("--by", default=getpass.getuser, help="Who requests it.  [default: the user]")
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
