"""Which root operations each service holds up, by their localizations. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sluice.pools.critical.localizations import Localizations, TraceRoot
from sluice.pools.v1.pool_size_pb2 import Blame
from sluice.pools.v1.pool_size_pb2 import HoldsUp as Message

# Part of the p95. Nobody notices less.
LEAST_SHARE = 0.05
MOST_ROOTS = 3


class HoldsUp(NamedTuple):
    """share_of_p95: of the root operation, 0..1. critical: localization names the service."""

    root: TraceRoot
    share_of_p95: float
    critical: bool


def holds_up(by_root: Localizations) -> dict[str, tuple[HoldsUp, ...]] | None:
    """The root operations that each service holds up: those of which it is the critical one, then by its share. None
    while no operation has enough traces.

    Worked: payment is the critical service of checkout with 34 %, and takes 60 % of refund and 4 % of browse: checkout,
    then refund.
    """
    ranked = {root: of for root, of in by_root.items() if of.ranking}
    if not ranked:
        return None
    held: dict[str, list[HoldsUp]] = {}
    for root, of in ranked.items():
        for service in of.ranking:
            share, critical = service.share_of_p95 or 0.0, service.service == of.critical
            if critical or share >= LEAST_SHARE:
                held.setdefault(service.service, []).append(HoldsUp(root, share, critical))
    return {service: tuple(sorted(of, key=_order)[:MOST_ROOTS]) for service, of in held.items()}


def blame_of(service: str, held: Mapping[str, tuple[HoldsUp, ...]] | None) -> tuple[HoldsUp, ...] | None:
    """() where nobody's latency hangs on the service; None while that is not known."""
    return None if held is None else held.get(service, ())


def blame_message(held: tuple[HoldsUp, ...] | None) -> Blame | None:
    if held is None:
        return None
    return Blame(
        holds_up=[
            Message(
                root_service=one.root.service,
                root_operation=one.root.operation,
                share_of_p95=one.share_of_p95,
                critical=one.critical,
            )
            for one in held
        ]
    )


def _order(held: HoldsUp) -> tuple[bool, float, TraceRoot]:
    return not held.critical, -held.share_of_p95, held.root
