"""The commands `sluice pools list | get | explain`."""

from datetime import UTC, datetime

import click

from sluice.cli.environment import addresses
from sluice.cli.output import EXIT_CODES, FORMS, output_option, print_item, print_items, say
from sluice.cli.pools.client import connect
from sluice.cli.pools.explanation import print_explanation
from sluice.cli.pools.message_json import message_to_json
from sluice.cli.pools.options import address_option, peer_option, pool_argument, service_option, side_option
from sluice.cli.pools.selector import Selector, SelectorError, parse_selector
from sluice.cli.pools.table import print_pools


@click.command("list", epilog=EXIT_CODES)
@service_option
@address_option
@output_option(*FORMS)
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
    if output != "table":
        print_items(map(message_to_json, sizes), output)
    elif sizes:
        print_pools(sizes, datetime.now(UTC))
    else:
        of = f" of service {service!r}" if service else ""
        say(f"The recommender's configuration has no pool{of}.")


@click.command("get", epilog=EXIT_CODES)
@pool_argument
@side_option
@peer_option
@address_option
@output_option(*FORMS)
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
    if output != "table":
        print_item(message_to_json(size), output)
    else:
        print_pools([size], datetime.now(UTC))


@click.command("explain", epilog=EXIT_CODES)
@pool_argument
@side_option
@peer_option
@address_option
@output_option(*FORMS)
def explain_command(pool: str, side: str | None, peer: str | None, address: str | None, output: str) -> None:
    """Show the evidence: threshold, window, the curve and its knee.

    \b
    Examples:
      sluice pools explain cart
      sluice pools explain cart/server -o json | jq '.belief.curve'
    """
    selector = select(pool, side, peer)
    with connect(address or addresses().recommender) as client:
        explanation = client.explain(selector)
    if output != "table":
        print_item(message_to_json(explanation), output)
    else:
        print_explanation(explanation, datetime.now(UTC))


def select(pool: str, side: str | None, peer: str | None) -> Selector:
    try:
        return parse_selector(pool, side, peer)
    except SelectorError as error:
        raise click.UsageError(str(error)) from None
