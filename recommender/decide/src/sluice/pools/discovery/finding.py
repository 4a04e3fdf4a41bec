"""Which candidates are pools: pure.

A candidate becomes a pool when an actuator or a metric has its size, or its concurrency shows a bound, the ones with
most in flight first, up to `discovery.most` and to what fits in memory. It stays one, whatever its load, until spans
have not shown it for a day.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from sluice.model.keys import PoolKey
from sluice.pools.discovery.candidate import Candidate, FoundBy, Load
from sluice.pools.discovery.selection import Discovery

POOL_LASTS_MS, CANDIDATE_LASTS_MS = 86_400_000, 3_600_000
# Peers that stand for several, or for none that is known.
NO_PEERS = frozenset({"unknown", "(more)"})
NAMELESS = "spans do not name what it calls: set peer.service, or server.address, of its CLIENT spans"
UNSIZED = "no actuator and no metric has its size, and its concurrency shows no bound"
WHY: Mapping[FoundBy, str] = {
    "configuration": "the configuration names it",
    "actuator": "an actuator reported its size",
    "metrics": "metrics of its service had its size",
}


class KnownSize(NamedTuple):
    """size: None where instances differ or have no limit."""

    by: FoundBy
    size: int | None


class KnownBound(NamedTuple):
    """A size that nothing but concurrency shows. why: the bound in words."""

    size: int
    why: str


class Fits(NamedTuple):
    """The pools that fit in memory, the configured ones counted. why: in words."""

    pools: int
    why: str


class Signs(NamedTuple):
    """What shows that candidates are pools. sizes: of those whose size is known. doubts: why metrics give none. bounds:
    in words, of the sizes by a bound. threadless: why those without a size are none."""

    configured: Collection[PoolKey] = frozenset()
    sizes: Mapping[PoolKey, KnownSize] = MappingProxyType({})
    doubts: Mapping[PoolKey, str] = MappingProxyType({})
    bounds: Mapping[PoolKey, str] = MappingProxyType({})
    threadless: Mapping[PoolKey, str] = MappingProxyType({})


def next_candidates(
    last: Mapping[PoolKey, Candidate],
    loads: Mapping[PoolKey, Load],
    signs: Signs,
    discovery: Discovery | None,
    now_ms: int,
    fits: Fits | None = None,
) -> dict[PoolKey, Candidate]:
    """The candidates after those of `last`; none without discovery. loads: of the newest reading. An empty one shows
    that no spans arrive, and lets no candidate go. fits: None where memory has no limit."""
    if discovery is None:
        return {}
    keys = [key for key in {**last, **loads} if key in signs.configured or discovery.selects(key)]
    seen = (_seen(key, last.get(key), loads, signs, now_ms) for key in keys)
    after = {one.key: one for one in seen if not loads or now_ms - one.seen_ms <= _lasts_ms(one)}
    found = sum(one.found_by not in (None, "configuration") for one in after.values())
    room, full = discovery.most - found, f"{discovery.most:,} pools were found already: discovery.most"
    if fits is not None and fits.pools - len(signs.configured) < discovery.most:
        room, full = fits.pools - len(signs.configured) - found, f"the decider's memory is taken: {fits.why}"
    eligible = [one for one in after.values() if one.found_by is None and one.key.peer not in NO_PEERS]
    for one in sorted(eligible, key=lambda one: (-one.concurrency, one.key)):
        if (by := _sign(one.key, signs)) is None:
            continue
        if room > 0:
            room -= 1
            why = signs.bounds[one.key] if by == "bound" else WHY[by]
            after[one.key] = replace(one, found_by=by, found_at_ms=now_ms, why=why)
        else:
            after[one.key] = replace(one, why=full)
    return after


def _seen(key: PoolKey, last: Candidate | None, loads: Mapping[PoolKey, Load], signs: Signs, now_ms: int) -> Candidate:
    """The candidate as it is seen now, with the reason why it is a pool if it was one."""
    known, load = signs.sizes.get(key), loads.get(key)
    one = last or Candidate(key, "", seen_ms=now_ms)
    if load is not None:
        one = replace(one, concurrency=load.concurrency, instances=load.instances, seen_ms=now_ms)
    one = replace(one, size=known and known.size, size_from=known and known.by)
    if key in signs.configured:
        at_ms = one.found_at_ms if one.found_by == "configuration" else now_ms
        return replace(one, found_by="configuration", found_at_ms=at_ms, why=WHY["configuration"])
    if one.found_by not in (None, "configuration"):
        return one
    why = NAMELESS if key.peer in NO_PEERS else signs.threadless.get(key) or signs.doubts.get(key, UNSIZED)
    return replace(one, found_by=None, found_at_ms=0, why=why)


def _sign(key: PoolKey, signs: Signs) -> FoundBy | None:
    known = signs.sizes.get(key)
    return None if known is None else known.by


def _lasts_ms(one: Candidate) -> int:
    return CANDIDATE_LASTS_MS if one.found_by is None else POOL_LASTS_MS
