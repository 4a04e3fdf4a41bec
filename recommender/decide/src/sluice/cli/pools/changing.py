"""The commands `sluice pools watch | history | pause | resume`."""

from datetime import UTC, datetime
from pathlib import Path

import click

from sluice.cli.numbers import Whole
from sluice.cli.output import EXIT_CODES, FORMS, note, output_option, say, show_list
from sluice.cli.pools.client import connect
from sluice.cli.pools.message_json import show_change
from sluice.cli.pools.options import address_option, by_option, pool_options, service_option
from sluice.cli.pools.selector import Selector, pool_name, side_name
from sluice.cli.pools.table import change_line
from sluice.cli.pools.text import not_written_yet
from sluice.cli.sections import Sectioned
from sluice.cli.sql.result import read_rows
from sluice.cli.table import columns, print_table

HISTORY_SQL = Path(__file__).with_name("history.sql").read_text(encoding="utf-8")
_HISTORY = columns("AT (UTC)", "WHAT", "DETAIL~")


@click.command("watch", epilog=EXIT_CODES)
@service_option
@address_option
@output_option("lines", "jsonl")
def watch_command(service: str, address: str, output: str) -> None:
    """Print every decision when it changes, until you interrupt the command.

    Prints the newest decision of each pool first, then changes. After a lost connection, it connects again and prints
    all pools that changed meanwhile. -o jsonl prints a PoolSize a line.

    \b
    Examples:
      sluice pools watch
      sluice pools watch --service cart -o jsonl | jq --unbuffered -c '[.state, .target]'
    """
    with connect(address) as client:
        for event in client.watch(service, note):
            if event.HasField("pool_size"):
                show_change(event.pool_size, output, change_line)


@click.command("history", epilog=EXIT_CODES)
@pool_options
@click.option("--limit", type=Whole(1, 10_000), default=20, show_default=True, help="Number of entries.")
@address_option
@output_option(*FORMS)
def history_command(selector: Selector, limit: int, address: str, output: str) -> None:
    """Show one pool's decisions, actuations, pauses and resumes, oldest first.

    The history is in ClickHouse (SLUICE_CLICKHOUSE). -o json prints an array of {at, what, detail}.

    \b
    Examples:
      sluice pools history cart
      sluice pools history catalogue/client/catalogue-db --limit 100 -o json
    """
    with connect(address) as client:
        named = client.resolve(selector)
    rows = list(
        read_rows(
            HISTORY_SQL, {"service": named.service, "side": side_name(named), "peer": named.peer, "limit": str(limit)}
        ).rows
    )
    show_list(
        rows,
        output,
        lambda shown: print_table(_HISTORY, shown),
        f"{pool_name(named)} has no history.",
        lambda row: dict(zip(("at", "what", "detail"), row, strict=True)),
    )


@click.command(
    "pause",
    cls=Sectioned,
    epilog=EXIT_CODES,
    sections={"Pool": "side peer", "Change": "size why by", "Connection": "address"},
)
@pool_options
@click.option("--why", required=True, help="Reason; everybody who looks at the pool sees it.")
@by_option
@click.option("--size", type=Whole(1, 100_000), help="Hold it at this size.  [default: the one in force]")
@address_option
def pause_command(selector: Selector, why: str, by: str, size: int | None, address: str) -> None:
    """Keep a pool's size, or hold it at another one, until you resume it.

    A restart of the recommender keeps the pause. All targets that apply decisions get the size of --size, within the
    pool's bounds.

    \b
    Examples:
      sluice pools pause cart --why "release 2.4 is rolled out"
      sluice pools pause cart --size 32 --why "for the sale"
    """
    with connect(address) as client:
        decision = client.get(selector) if size is not None else None
        named = pool_name(client.pause(selector, by, why, size))
    say(f"{named} is paused" + (f" at {size}" if size is not None else ""))
    if decision is not None and (delay := not_written_yet(decision, datetime.now(UTC))):
        say(delay)


@click.command("resume", epilog=EXIT_CODES)
@pool_options
@by_option
@address_option
def resume_command(selector: Selector, by: str, address: str) -> None:
    """End a pause.

    Sluice decides the pool again. Targets that apply decisions follow it from the next period on.

    \b
    Example:
      sluice pools resume cart
    """
    with connect(address) as client:
        named, was_paused = client.resume(selector, by)
    say(f"{pool_name(named)} is resumed" if was_paused else f"{pool_name(named)} was not paused")
