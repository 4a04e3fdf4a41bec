"""The interface of a strategy, and the list of strategies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Protocol

from sluice.subsets.connections import Connections, Downwards
from sluice.subsets.fleet import Fleet, Floats
from sluice.subsets.problem import FleetPair, Problem
from sluice.subsets.solution import Solution


class Rival(Protocol):
    """A rule that looks at one pair at a time, as every published one except Microns does."""

    def __call__(self, upstream: Fleet, downstream: Fleet, sent: Floats, size: int, quota: int) -> Connections:
        """sent: (U,) calls per second of each upstream container. size: connections per upstream container. quota: of
        all."""
        ...


#: Where each rule is defined, as `package.module:name`. It is imported on first use.
RIVALS: Mapping[str, str] = {
    "full": "sluice.subsets.rivals.full:full",
    "sre": "sluice.subsets.rivals.sre:sre",
    "rocksteadier": "sluice.subsets.rivals.rocksteadier:rocksteadier",
    "aperture": "sluice.subsets.rivals.aperture:aperture",
    "proportional": "sluice.subsets.rivals.proportional:proportional",
    "a68": "sluice.subsets.rivals.a68:a68",
}
MICRONS = "microns"
STRATEGIES = (MICRONS, *RIVALS)

#: The most connections of one answer: those of 10,000 containers fully connected to 2,000.
MOST = 20_000_000


def rival(name: str) -> Callable[[Problem], Solution]:
    """The rival of this name, as a function that solves all pairs."""
    module, _, function = RIVALS[name].partition(":")
    rule: Rival = getattr(import_module(module), function)
    return lambda problem: _by_pair(name, rule, problem)


def _by_pair(name: str, rule: Rival, problem: Problem) -> Solution:
    """Gives each pair the quota that Microns starts with. So all strategies have equally many connections, where the
    rule allows it."""
    from sluice.subsets.quotas import first_quotas

    if name == "full" and sum(pair.all for pair in problem.pairs) > MOST:
        raise TooManyError(sum(pair.all for pair in problem.pairs))
    quotas = first_quotas(problem)
    down_from = Downwards(problem)
    placed: list[Connections] = [None] * len(problem.pairs)  # type: ignore[list-item]
    for number, pair, sent in down_from:
        up, down = problem.fleets[pair.upstream], problem.fleets[pair.downstream]
        placed[number] = rule(up, down, sent, _size(pair, int(quotas[number])), int(quotas[number]))
        down_from.brings(number, placed[number].received(sent, len(down)))
    return Solution(name, tuple(placed), notes=problem.notes)


def _size(pair: FleetPair, quota: int) -> int:
    """Connections per upstream container where all have the same number: the quota divided by their number, rounded."""
    return min(max(round(quota / len(pair.most)), 1), pair.containers)


class TooManyError(ValueError):
    def __init__(self, wanted: int) -> None:
        super().__init__(f"full: {wanted:,} connections are too many for one answer; legal: up to {MOST:,}")


def total(subsets: Sequence[Connections]) -> int:
    """Connections of all pairs."""
    return sum(len(subset) for subset in subsets)
