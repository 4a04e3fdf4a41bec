"""The commands `sluice subsets list | get | explain | watch`, on the subsets that the recommender serves."""

from datetime import UTC, datetime

import click

from sluice.cli.output import EXIT_CODES, FORMS, note, output_option, print_items, show_list
from sluice.cli.pools.message_json import message_to_json, show_change, show_message
from sluice.cli.pools.options import address_option
from sluice.cli.subsets.client import connect
from sluice.cli.subsets.explanation import print_explanation
from sluice.cli.subsets.options import Filter, filter_options, name_argument
from sluice.cli.subsets.subset_table import change_line, print_subset, print_subsets
from sluice.subsets.v1.explanation_pb2 import Pair
from sluice.subsets.v1.subset_pb2 import SubsetKey


@click.command("list", epilog=EXIT_CODES)
@filter_options
@address_option
@output_option(*FORMS)
def list_command(filters: Filter, address: str, output: str) -> None:
    """List the connections of each container, by the service that it calls.

    \b
    Examples:
      sluice subsets list
      sluice subsets list --upstream shop --downstream cart
      sluice subsets list -o json > before.json
    """
    with connect(address) as client:
        answer = client.list(filters)
        if output != "table":  # a page at a time
            print_items(map(message_to_json, answer), output)
            return
        subsets = list(answer)
    empty = "No subset matches." if any(filters) else "There are no subsets yet."
    show_list(subsets, output, lambda shown: print_subsets(shown, datetime.now(UTC)), empty)


@click.command("get", epilog=EXIT_CODES)
@name_argument("upstream")
@name_argument("instance")
@name_argument("downstream")
@address_option
@output_option(*FORMS)
def get_command(upstream: str, instance: str, downstream: str, address: str, output: str) -> None:
    """Show the connections of one container.

    They go from container INSTANCE of service UPSTREAM to containers of service DOWNSTREAM.

    \b
    Examples:
      sluice subsets get shop shop-1 cart
      sluice subsets get shop shop-1 cart -o json | jq -r '.endpoints[].address'
    """
    with connect(address) as client:
        subset = client.get(SubsetKey(upstream=upstream, instance=instance, downstream=downstream))
    show_message(subset, output, lambda shown: print_subset(shown, datetime.now(UTC)))


@click.command("explain", epilog=EXIT_CODES)
@name_argument("upstream")
@name_argument("downstream")
@address_option
@output_option(*FORMS)
def explain_command(upstream: str, downstream: str, address: str, output: str) -> None:
    """Show the evidence for the connections between two services.

    The evidence is contention, latencies, quota and gain of the connections from UPSTREAM to DOWNSTREAM.

    \b
    Examples:
      sluice subsets explain shop cart
      sluice subsets explain shop cart -o json | jq '.explanation.containers'
    """
    with connect(address) as client:
        answer = client.explain(Pair(upstream=upstream, downstream=downstream))
    show_message(answer, output, lambda shown: print_explanation(shown, datetime.now(UTC)))


@click.command("watch", epilog=EXIT_CODES)
@filter_options
@address_option
@output_option("lines", "jsonl")
def watch_command(filters: Filter, address: str, output: str) -> None:
    """Print every subset when it changes, until you interrupt the command.

    Prints the newest version of each subset first, then changes. After a lost connection, it connects again and prints
    all subsets that changed meanwhile. -o jsonl prints a Subset a line.

    \b
    Examples:
      sluice subsets watch --downstream cart
      sluice subsets watch -o jsonl | jq --unbuffered -c '[.key.instance, .revision]'
    """
    with connect(address) as client:
        for event in client.watch(filters, note):
            if event.HasField("subset"):
                show_change(event.subset, output, change_line)
