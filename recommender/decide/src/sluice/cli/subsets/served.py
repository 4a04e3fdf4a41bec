"""The commands `sluice subsets list | get | explain | watch`, on the subsets that the recommender serves."""

import sys
from datetime import UTC, datetime

import click

from sluice.cli.environment import addresses
from sluice.cli.output import EXIT_CODES, FORMS, note, output_option, print_item, print_items, say
from sluice.cli.pools.message_json import message_to_json
from sluice.cli.pools.options import address_option
from sluice.cli.subsets.client import Filter, connect
from sluice.cli.subsets.explanation import print_explanation
from sluice.cli.subsets.options import filter_options, name_argument
from sluice.cli.subsets.subset_table import change_line, print_subset, print_subsets
from sluice.subsets.v1.explanation_pb2 import Pair
from sluice.subsets.v1.subset_pb2 import SubsetKey


@click.command("list", epilog=EXIT_CODES)
@filter_options
@address_option
@output_option(*FORMS)
def list_command(upstream: str, instance: str, downstream: str, address: str | None, output: str) -> None:
    """List connection subsets: a line for each upstream container and service that it calls.

    \b
    Examples:
      sluice subsets list
      sluice subsets list --upstream shop --downstream cart
      sluice subsets list -o json > before.json
    """
    with connect(address or addresses().recommender) as client:
        answer = client.list(Filter(upstream, instance, downstream))
        if output != "table":
            print_items(map(message_to_json, answer), output)
            return
        subsets = list(answer)
    if subsets:
        print_subsets(subsets, datetime.now(UTC))
    else:
        say("No subset matches." if upstream or instance or downstream else "There are no subsets yet.")


@click.command("get", epilog=EXIT_CODES)
@name_argument("upstream")
@name_argument("instance")
@name_argument("downstream")
@address_option
@output_option(*FORMS)
def get_command(upstream: str, instance: str, downstream: str, address: str | None, output: str) -> None:
    """Show the containers of service DOWNSTREAM that container INSTANCE of service UPSTREAM connects to.

    \b
    Examples:
      sluice subsets get shop shop-1 cart
      sluice subsets get shop shop-1 cart -o json | jq -r '.endpoints[].address'
    """
    with connect(address or addresses().recommender) as client:
        subset = client.get(SubsetKey(upstream=upstream, instance=instance, downstream=downstream))
    if output != "table":
        print_item(message_to_json(subset), output)
    else:
        print_subset(subset, datetime.now(UTC))


@click.command("explain", epilog=EXIT_CODES)
@name_argument("upstream")
@name_argument("downstream")
@address_option
@output_option(*FORMS)
def explain_command(upstream: str, downstream: str, address: str | None, output: str) -> None:
    """Show the evidence behind the connections from UPSTREAM to DOWNSTREAM: contention, latencies, quota, gain.

    \b
    Examples:
      sluice subsets explain shop cart
      sluice subsets explain shop cart -o json | jq '.explanation.containers'
    """
    with connect(address or addresses().recommender) as client:
        answer = client.explain(Pair(upstream=upstream, downstream=downstream))
    if output != "table":
        print_item(message_to_json(answer), output)
    else:
        print_explanation(answer, datetime.now(UTC))


@click.command("watch", epilog=EXIT_CODES)
@filter_options
@address_option
@output_option("lines", "jsonl")
def watch_command(upstream: str, instance: str, downstream: str, address: str | None, output: str) -> None:
    """Print every subset when it changes, until you interrupt the command.

    Prints the newest version of each subset first, then changes. After a lost connection, it connects again and prints
    all subsets that changed meanwhile. -o jsonl prints a Subset a line.

    \b
    Examples:
      sluice subsets watch --downstream cart
      sluice subsets watch -o jsonl | jq --unbuffered -c '[.key.instance, .revision]'
    """
    with connect(address or addresses().recommender) as client:
        for event in client.watch(Filter(upstream, instance, downstream), note):
            if not event.HasField("subset"):
                continue
            if output == "jsonl":
                print_items([message_to_json(event.subset)], output)
                sys.stdout.flush()
            else:
                say(change_line(event.subset, datetime.now(UTC)))
