"""Membership: containers that went leave subsets, and those that came get their part, with nothing known but who is
there. It needs no rates, no latencies and no solver, so nothing that is wrong with those holds it.

Connections whose two ends are there stay with their weights. What a container that went leaves open is filled from
those with the fewest callers. A new upstream container gets as many as the others have; a new downstream one as many
callers as the others have on average, and no more, taken where nothing is open from those that have the most.
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
"""By upstream container the weights of its connections, by downstream container."""


@dataclass(frozen=True)
class Bounds:
    """As of `Application`."""

    quota: int | None = None
    min_subset: int = 2
    keep_in_zone: bool = False


def follow(
    before: Mapping[tuple[str, str], Ends], members: Members, bounds: Bounds
) -> dict[tuple[str, str], dict[str, dict[str, int]]]:
    """The connections of each pair of services, of whom is there now. A service of which nothing is known stays as it
    is; of one of which all containers are drained these are called.

    Connections are as many as `bounds` allow, or as the least subsets take where that is more.
    """
    pairs = {key: _pair(key, ends, members, bounds) for key, ends in before.items() if ends}
    for key, total in _totals(pairs, bounds).items():
        pairs[key].become(total)
    return {key: pair.ends() for key, pair in pairs.items()}


def _pair(key: tuple[str, str], before: Ends, members: Members, bounds: Bounds) -> MemberPair:
    up, down = key
    named = tuple(Member(name) for name in sorted({name for ends in before.values() for name in ends}))
    above = _available(members.get(up, ())) or tuple(Member(name) for name in sorted(before))
    below = _available(members.get(down, ())) or members.get(down) or named
    return MemberPair(key, before, above, below, bounds.min_subset, bounds.keep_in_zone)


def _available(those: tuple[Member, ...]) -> tuple[Member, ...]:
    return tuple(each for each in those if not each.drained)


def _totals(pairs: Mapping[tuple[str, str], MemberPair], bounds: Bounds) -> dict[tuple[str, str], int]:
    """Connections of each pair. Pairs that nothing happened to give some only where the others cannot."""
    found = {key: pair.wanted for key, pair in pairs.items()}
    fewest, most = sum(pair.fewest for pair in pairs.values()), sum(pair.most for pair in pairs.values())
    quota = sum(USUAL * len(pair.above) for pair in pairs.values()) if bounds.quota is None else bounds.quota
    limit = min(max(quota, fewest), most)
    for chosen in ([key for key, pair in pairs.items() if pair.touched], list(pairs)):
        over = sum(found.values()) - limit
        if over <= 0 or not chosen:
            continue
        now = np.array([found[key] for key in chosen], dtype=np.int64)
        least = np.array([pairs[key].fewest for key in chosen], dtype=np.int64)
        totals = bounded(now.astype(np.float64), least, now, int(now.sum()) - over)
        found.update(zip(chosen, totals.tolist(), strict=True))
    return found
