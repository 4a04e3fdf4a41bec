"""Membership: gone containers leave subsets, and new ones get their share. It uses nothing but the live containers:
no rates, no latencies and no solver. So no problem of those can delay it.

Connections keep their weights while both of their containers are live. A connection that a gone container leaves
open goes to one of the downstream containers with the fewest callers. A new upstream container gets as many connections
as the others have. A new downstream container gets as many callers as the others have on average, and no more. Where no
connection is open, it takes them from the containers with the most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sluice.subsets.application import USUAL
from sluice.subsets.member_pair import MemberPair
from sluice.subsets.members import Member, Members
from sluice.subsets.quotas import bounded

Ends = Mapping[str, Mapping[str, int]]
"""The weights of connections, by upstream container, then by downstream container."""


@dataclass(frozen=True)
class ConnectionLimits:
    """The limits of an `Application`."""

    quota: int | None = None
    min_subset: int = 2
    keep_in_zone: bool = False


def follow(
    previous: Mapping[tuple[str, str], Ends], members: Members, bounds: ConnectionLimits
) -> dict[tuple[str, str], dict[str, dict[str, int]]]:
    """The connections of each pair of services, adapted to the live containers.

    A service about which nothing is known keeps its containers. Where all containers of a service are drained, they are
    called all the same. There are as many connections as `bounds` allow, or as the smallest legal subsets need where
    that is more.
    """
    pairs = {key: _pair(key, ends, members, bounds) for key, ends in previous.items() if ends}
    for key, total in _totals(pairs, bounds).items():
        pairs[key].become(total)
    return {key: pair.ends() for key, pair in pairs.items()}


def _pair(key: tuple[str, str], previous: Ends, members: Members, bounds: ConnectionLimits) -> MemberPair:
    up, down = key
    named = tuple(Member(name) for name in sorted({name for ends in previous.values() for name in ends}))
    above = _available(members.get(up, ())) or tuple(Member(name) for name in sorted(previous))
    below = _available(members.get(down, ())) or members.get(down) or named
    return MemberPair(key, previous, above, below, bounds.min_subset, bounds.keep_in_zone)


def _available(those: tuple[Member, ...]) -> tuple[Member, ...]:
    return tuple(member for member in those if not member.drained)


def _totals(pairs: Mapping[tuple[str, str], MemberPair], bounds: ConnectionLimits) -> dict[tuple[str, str], int]:
    """Connections of each pair. Pairs without a change give connections away only where the others cannot."""
    totals = {key: pair.wanted for key, pair in pairs.items()}
    fewest, most = sum(pair.fewest for pair in pairs.values()), sum(pair.most for pair in pairs.values())
    quota = sum(USUAL * len(pair.above) for pair in pairs.values()) if bounds.quota is None else bounds.quota
    limit = min(max(quota, fewest), most)
    for chosen in ([key for key, pair in pairs.items() if pair.touched], list(pairs)):
        over = sum(totals.values()) - limit
        if over <= 0 or not chosen:
            continue
        now = np.array([totals[key] for key in chosen], dtype=np.int64)
        least = np.array([pairs[key].fewest for key in chosen], dtype=np.int64)
        reduced = bounded(now.astype(np.float64), least, now, int(now.sum()) - over)
        totals.update(zip(chosen, reduced.tolist(), strict=True))
    return totals
