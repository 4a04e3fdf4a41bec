"""The commands `sluice pools list | get | explain`."""

from datetime import UTC, datetime

import click

from sluice.cli.environment import addresses
from sluice.cli.output import EXIT_CODES, console, output_option, print_json
from sluice.cli.pools.client import connect
from sluice.cli.pools.explanation import print_explanation
from sluice.cli.pools.message_json import message_to_json
from sluice.cli.pools.selector import Selector, SelectorError, parse_selector
from sluice.cli.pools.table import pool_table

address_option = click.option("--address", metavar="HOST:PORT", help="Recommender.  [default: SLUICE_RECOMMENDER]")
pool_argument = click.argument("pool", metavar="POOL")
side_option = click.option("--side", type=click.Choice(["server", "client"]), help="Side, when POOL is a service.")
peer_option = click.option("--peer", help="Where a client pool leads to.")


@click.group("pools", epilog=EXIT_CODES)
def pools() -> None:
    """Ask the recommender for pool sizes, watch and pause them.

    A pool is named SERVICE/server (the threads that serve requests) or SERVICE/client/PEER (the connections to
    PEER). SERVICE alone means its server pool, else its only pool.

    \b
    Output as JSON (-o json): field names and enum names of the proto sluice.v1, e.g. "state": "PROVIDED",
    "side": "SIDE_SERVER". Every field is there; one that has no value is null, never 0. Times are RFC 3339,
    durations like "0.250s", all integers are numbers.
      list     an array of PoolSize
      get      a PoolSize
      explain  an Explanation (the PoolSize is its `pool_size`)
      watch    a PoolSize a line (-o jsonl)

    SLUICE_TLS_CA (a PEM file) and SLUICE_TOKEN are for a recommender that has TLS and asks for tokens.
    """


@pools.command("list", epilog=EXIT_CODES)
@click.option("--service", default="", help="Only the pools of this service.")
@address_option
@output_option("table", "json")
def list_command(service: str, address: str | None, output: str) -> None:
    """List every pool with its state and sizes.

    \b
    Examples:
      sluice pools list
      sluice pools list --service cart
      sluice pools list -o json | jq -r '.[] | select(.state == "PROVIDED") | .target'
    """
    with connect(address or addresses().recommender) as client:
        sizes = client.list(service)
    if output == "json":
        print_json([message_to_json(size) for size in sizes])
    elif sizes:
        console().print(pool_table(sizes, datetime.now(UTC)))
    else:
        of = f" of service {service!r}" if service else ""
        console().print(f"The recommender's configuration has no pool{of}.", markup=False)


@pools.command("get", epilog=EXIT_CODES)
@pool_argument
@side_option
@peer_option
@address_option
@output_option("table", "json")
def get_command(pool: str, side: str | None, peer: str | None, address: str | None, output: str) -> None:
    """Show one pool.

    \b
    Examples:
      sluice pools get cart
      sluice pools get catalogue/client/catalogue-db
      sluice pools get catalogue --side client --peer catalogue-db -o json
    """
    selector = select(pool, side, peer)
    with connect(address or addresses().recommender) as client:
        size = client.get(selector)
    if output == "json":
        print_json(message_to_json(size))
    else:
        console().print(pool_table([size], datetime.now(UTC)))


@pools.command("explain", epilog=EXIT_CODES)
@pool_argument
@side_option
@peer_option
@address_option
@output_option("table", "json")
def explain_command(pool: str, side: str | None, peer: str | None, address: str | None, output: str) -> None:
    """Show the evidence: threshold, window, goodput curve and its knee.

    \b
    Examples:
      sluice pools explain cart
      sluice pools explain cart/server -o json | jq '.curve'
    """
    selector = select(pool, side, peer)
    with connect(address or addresses().recommender) as client:
        explanation = client.explain(selector)
    if output == "json":
        print_json(message_to_json(explanation))
    else:
        print_explanation(console(), explanation, datetime.now(UTC))


def select(pool: str, side: str | None, peer: str | None) -> Selector:
    try:
        return parse_selector(pool, side, peer)
    except SelectorError as error:
        raise click.UsageError(str(error)) from None
