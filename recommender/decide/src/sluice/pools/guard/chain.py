"""Applies every rule in turn; each that changes the size names itself."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.pools.estimate import Reason
from sluice.pools.guard.rules import CHAIN, Context


@dataclass(frozen=True)
class Guarded:
    """size: what may be answered. unguarded: what went in, set when a rule changed it."""

    size: int
    unguarded: int | None
    reasons: tuple[Reason, ...]


def guard(size: int, context: Context) -> Guarded:
    """The size that passes the chain; `size` > 0."""
    reasons: list[Reason] = []
    passed = size
    for rule in CHAIN:
        change = rule(passed, context)
        if change is not None:
            passed = change.size
            reasons.append(change.reason)
    return Guarded(passed, size if passed != size else None, tuple(reasons))
