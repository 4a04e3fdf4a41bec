"""The command `sluice pools discover`."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from sluice.cli.environment import addresses
from sluice.cli.output import EXIT_CODES, FORMS, note, output_option, print_item, show_list
from sluice.cli.pools.client import PoolsClient, connect
from sluice.cli.pools.empty import why_no_candidate
from sluice.cli.pools.message_json import message_to_json
from sluice.cli.pools.options import address_option, service_option
from sluice.cli.pools.selector import SIDES, pool_name
from sluice.cli.pools.text import seconds, short_name
from sluice.cli.table import columns, print_table
from sluice.pools.v1.candidate_pb2 import FOUND_BY_CONFIGURATION, FOUND_BY_UNSPECIFIED, Candidate, FoundBy

_COLUMNS = columns("POOL", "FOUND", "AGE", "SIZE>", "FROM", "IN FLIGHT>", "WHY~")


@click.command("discover", epilog=EXIT_CODES)
@service_option
@address_option
@output_option(*FORMS)
def discover_command(service: str, address: str, output: str) -> None:
    """Show the pools that were found from spans, and candidates that are none.

    A candidate is a service, side and peer that spans show; the ones with most in flight come first. FOUND is the sign
    that made a candidate a pool, or `-`: docs/discovery.md lists the signs. FROM tells what has its size. IN FLIGHT is
    the mean number of requests in it over five minutes. -o yaml prints the configuration that names the found pools by
    hand.

    \b
    Examples:
      sluice pools discover
      sluice pools discover -o json | jq -r '.[] | select(.found_by == "FOUND_BY_UNSPECIFIED") | .why'
      sluice pools discover -o yaml > sluice.yaml
    """
    with connect(address) as client:
        candidates = sorted(client.candidates(service), key=lambda one: (-one.concurrency, pool_name(one.pool)))
        empty = "" if candidates or output != "table" else _why_empty(client, service)
    if output == "yaml":
        print_item(configuration(candidates), output)
        if named := sum(one.found_by == FOUND_BY_CONFIGURATION for one in candidates):
            note(f"Left out: the pools that the configuration names ({named}).")
        return
    show_list(candidates, output, lambda shown: _print(shown, datetime.now(UTC)), empty, message_to_json)


def configuration(candidates: Iterable[Candidate]) -> dict[str, Any]:
    """The configuration with the found pools by name; with `auto` where there is none."""
    unnamed = [one for one in candidates if one.found_by not in (FOUND_BY_UNSPECIFIED, FOUND_BY_CONFIGURATION)]
    sides = {number: side for side, number in SIDES.items()}
    pools = [
        {"service": one.pool.service, "side": sides[one.pool.side]} | ({"peer": one.pool.peer} if one.pool.peer else {})
        for one in unnamed
    ]
    return {"pools": pools or "auto"}


def _why_empty(client: PoolsClient, service: str) -> str:
    others = sorted({one.pool.service for one in client.candidates()}) if service else []
    if others:
        return f"No candidate is of service {service!r}. Candidates are of: {', '.join(others)}."
    return why_no_candidate(len(client.list()), addresses())


def _print(candidates: Sequence[Candidate], now: datetime) -> None:
    print_table(_COLUMNS, (_row(one, now) for one in candidates))
    found = sum(one.found_by != FOUND_BY_UNSPECIFIED for one in candidates)
    note(f"{found} pools, {len(candidates) - found} candidates that are none")


def _row(one: Candidate, now: datetime) -> tuple[str, ...]:
    found = one.found_by != FOUND_BY_UNSPECIFIED
    return (
        pool_name(one.pool),
        _by(one.found_by),
        seconds((now - one.found_at.ToDatetime(UTC)).total_seconds()) if found else "-",
        str(one.size) if one.HasField("size") else "-",
        _by(one.size_from),
        f"{one.concurrency:.2f}",
        one.why,
    )


def _by(found_by: FoundBy.ValueType) -> str:
    return "-" if found_by == FOUND_BY_UNSPECIFIED else str(short_name(FoundBy.DESCRIPTOR, found_by))
