"""Prints subsets as tables and lines."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sluice.cli.output import say
from sluice.cli.pools.text import moment, seconds, short_name
from sluice.cli.table import columns, print_table
from sluice.subsets.v1.subset_pb2 import Endpoint, State, Subset

_STYLES = (("PROVIDED", "green"), ("LEARNING", "yellow"), ("HELD", "red"), ("PAUSED", "cyan"))
_COLUMNS = columns(
    *("UPSTREAM", "CONTAINER", "DOWNSTREAM", "STATE", "CONNECTED TO~", "STRATEGY", "REVISION>", "AGE", "REASONS~"),
    STATE=_STYLES,
)
_ENDPOINTS = columns("INSTANCE", "ADDRESS", "ZONE", "SHARE>")
# The meaning of each state, shown behind its short name.
MEANINGS = {
    "PROVIDED": "from learnt latencies",
    "LEARNING": "too few latencies: by the utilization of hosts, or fully connected",
    "HELD": "its input is missing or wrong: the last good one stays",
    "PAUSED": "an operator paused it",
    "DELETED": "the container, or the pair, is gone",
}


def print_subsets(subsets: Iterable[Subset], now: datetime) -> None:
    """One row a subset; `now` (with time zone) gives the ages."""
    print_table(_COLUMNS, (_row(subset, now) for subset in subsets))


def print_subset(subset: Subset, now: datetime) -> None:
    """Prints the subset's state, and a line an endpoint."""
    state = state_name(subset.state)
    key = subset.key
    say(f"{key.upstream}/{key.instance} -> {key.downstream}", "bold")
    say(f"state     {state}: {MEANINGS[state]}" if state in MEANINGS else f"state     {state}")
    say(f"strategy  {subset.strategy or '-'}, revision {subset.revision}, {_age(subset, now)} old")
    for reason in subset.reasons:
        say(f"reason    {reason.text or reason.code}")
    total = sum(endpoint.weight for endpoint in subset.endpoints)
    print_table(
        _ENDPOINTS,
        (
            (endpoint.instance, endpoint.address or "-", endpoint.zone or "-", f"{endpoint.weight / max(total, 1):.1%}")
            for endpoint in subset.endpoints
        ),
    )


def change_line(subset: Subset, now: datetime) -> str:
    """`12:30:05 shop/shop-1 -> cart PROVIDED revision 4: cart-0 40%, cart-3 60%`."""
    key = subset.key
    return (
        f"{now:%H:%M:%S} {key.upstream}/{key.instance} -> {key.downstream} {state_name(subset.state)}"
        f" revision {subset.revision}: {_endpoints(subset) or '-'}"
    )


def state_name(state: int) -> str:
    return str(short_name(State.DESCRIPTOR, state))


def _row(subset: Subset, now: datetime) -> tuple[str, ...]:
    key = subset.key
    return (
        key.upstream,
        key.instance,
        key.downstream,
        state_name(subset.state),
        _endpoints(subset),
        subset.strategy or "-",
        str(subset.revision),
        _age(subset, now),
        "; ".join(reason.text or reason.code for reason in subset.reasons),
    )


def _endpoints(subset: Subset) -> str:
    """`cart-0 40%, cart-3 60%`; without shares where all are the same."""
    endpoints: list[Endpoint] = list(subset.endpoints)
    if len({endpoint.weight for endpoint in endpoints}) <= 1:
        return ", ".join(endpoint.instance for endpoint in endpoints)
    total = sum(endpoint.weight for endpoint in endpoints)
    return ", ".join(f"{endpoint.instance} {endpoint.weight / total:.0%}" for endpoint in endpoints)


def _age(subset: Subset, now: datetime) -> str:
    if not subset.HasField("computed_at"):
        return "-"
    return seconds((now - moment(subset.computed_at)).total_seconds())
