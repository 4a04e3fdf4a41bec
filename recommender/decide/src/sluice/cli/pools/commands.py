"""The commands `sluice pools list | get | explain`."""

from datetime import UTC, datetime

import click

from sluice.cli.environment import addresses
from sluice.cli.output import EXIT_CODES, FORMS, output_option, show_list
from sluice.cli.pools.client import connect
from sluice.cli.pools.empty import why_empty
from sluice.cli.pools.explanation import print_explanation
from sluice.cli.pools.message_json import message_to_json, show_message
from sluice.cli.pools.options import address_option, pool_options, service_option
from sluice.cli.pools.selector import Selector
from sluice.cli.pools.table import by_importance, print_pools


@click.command("list", epilog=EXIT_CODES)
@service_option
@address_option
@output_option(*FORMS)
def list_command(service: str, address: str, output: str) -> None:
    """List every pool with its state and sizes, the most important first.

    HOLDS UP names the root operation that waits for the pool's service, and which part of its p95 is the blame of that
    service. First come the pools of services that are critical (sluice critical-service), then those with the largest
    part. docs/quick-start.md explains the other columns.

    \b
    Examples:
      sluice pools list
      sluice pools list --service cart
      sluice pools list -o json | jq -r '.[] | select(.state == "PROVIDED") | .target'
    """
    with connect(address) as client:
        sizes = by_importance(client.list(service))
    empty = why_empty(service, addresses()) if not sizes and output == "table" else ""
    show_list(sizes, output, lambda shown: print_pools(shown, datetime.now(UTC)), empty, message_to_json)


@click.command("get", epilog=EXIT_CODES)
@pool_options
@address_option
@output_option(*FORMS)
def get_command(selector: Selector, address: str, output: str) -> None:
    """Show one pool.

    The columns are those of `sluice pools list`; -o json has more fields.

    \b
    Examples:
      sluice pools get cart
      sluice pools get catalogue/client/catalogue-db
      sluice pools get catalogue --side client --peer catalogue-db -o json
    """
    with connect(address) as client:
        size = client.get(selector)
    show_message(size, output, lambda shown: print_pools([shown], datetime.now(UTC)))


@click.command("explain", epilog=EXIT_CODES)
@pool_options
@address_option
@output_option(*FORMS)
def explain_command(selector: Selector, address: str, output: str) -> None:
    """Show the evidence: threshold, window, the curve and its knee.

    The answer has the decision, each reason as a sentence, the response time within which a completion counts, and the
    completions per second at each size. docs/concepts.md explains the terms.

    \b
    Examples:
      sluice pools explain cart
      sluice pools explain cart/server -o json | jq '.belief.curve'
    """
    with connect(address) as client:
        explanation = client.explain(selector)
    show_message(explanation, output, lambda shown: print_explanation(shown, datetime.now(UTC)))
