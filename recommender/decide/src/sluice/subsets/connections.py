"""The connections of one pair, and the flow of calls through the connections of all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sluice.subsets.circles import MOST_PASSES, fixed_point
from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.problem import FleetPair, Problem


@dataclass(frozen=True, eq=False)
class Connections:
    """y connections of a pair. Those of an upstream container are adjacent, in the order of downstream containers.

    start: (U + 1,) where the connections of each upstream container begin. to: (y,) downstream containers. share: (y,)
    the part of the upstream container's calls; the shares of an upstream container add up to 1.
    """

    start: Ints
    to: Ints
    share: Floats

    def __len__(self) -> int:
        return len(self.to)

    def source(self) -> Ints:
        """(y,) upstream containers."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def sizes(self) -> Ints:
        """(U,) connections of each upstream container."""
        return np.diff(self.start)

    def received(self, sent: Floats, containers: int) -> Floats:
        """Calls per second that each of `containers` downstream containers gets. `sent`: (U,) those of the upstream
        ones."""
        flow = np.repeat(sent, np.diff(self.start)) * self.share
        return np.asarray(np.bincount(self.to, weights=flow, minlength=containers), dtype=np.float64)


def connections(subsets: Sequence[Ints], shares: Sequence[Floats] | None = None) -> Connections:
    """Builds connections from the downstream containers of each upstream one, none twice. Without `shares`, all shares
    of an upstream container are equal."""
    start = np.concatenate([[0], np.cumsum([len(subset) for subset in subsets])]).astype(np.int64)
    if shares is None:
        shares = [np.full(len(subset), 1 / max(len(subset), 1)) for subset in subsets]
    orders = [np.argsort(subset, kind="stable") for subset in subsets]
    return Connections(
        start,
        np.concatenate([subset[order] for subset, order in zip(subsets, orders, strict=True)]).astype(np.int64),
        np.concatenate([share[order] for share, order in zip(shares, orders, strict=True)]),
    )


def free(pair: FleetPair, sent: Floats) -> Floats:
    """Of what upstream containers send, (U,) calls per second, the part of those that follow their subsets."""
    return sent if pair.fixed is None else np.where(pair.fixed.sizes() > 0, 0.0, sent)


def realized(pair: FleetPair, subsets: Connections, sent: Floats) -> Floats:
    """Calls per second that each downstream container gets, (D,): from the upstream containers that follow `subsets`,
    and from those that do not."""
    if pair.fixed is None:
        return subsets.received(sent, pair.containers)
    return subsets.received(free(pair, sent), pair.containers) + pair.fixed.received(sent, pair.containers)


class Downwards:
    """Iterates over pairs from callers to callees, with what their upstream containers send, (U,) calls per second.

    Calls from outside are spread evenly over the containers of a service. A container makes calls in proportion to
    those that it gets. work: calls per second of each service's containers, as far as the iteration went. back: (D,)
    the calls that each pair cut out of a cycle brings, needed before its callers are known; spread evenly where it is
    not given.
    """

    def __init__(self, problem: Problem, back: Mapping[int, Floats] | None = None) -> None:
        self._problem = problem
        self.work = [
            np.full(len(fleet), outside / len(fleet))
            for fleet, outside in zip(problem.fleets, problem.outside, strict=True)
        ]
        self.back: dict[int, Floats] = dict(back or {})
        for number in problem.cut:
            pair = problem.pairs[number]
            self.back.setdefault(number, np.full(pair.containers, pair.rate_per_s / pair.containers))
            self.work[pair.downstream] = self.work[pair.downstream] + self.back[number]

    def __iter__(self) -> Iterator[tuple[int, FleetPair, Floats]]:
        for number in self._problem.order:
            pair = self._problem.pairs[number]
            yield number, pair, self.work[pair.upstream] * (pair.rate_per_s / self._problem.rate_per_s[pair.upstream])

    def brings(self, number: int, got: Floats) -> None:
        """Adds what the downstream containers of a pair get, (D,)."""
        if number not in self._problem.cut:
            at = self._problem.pairs[number].downstream
            self.work[at] = self.work[at] + got


def flow(problem: Problem, subsets: Sequence[Connections]) -> tuple[list[Floats], list[Floats]]:
    """Workload(x, W) of Microns, 5.1: calls per second of each service's containers, and of each pair's downstream
    containers.

    Through a cycle it is the fixed point, where a cut pair brings as much as the pass before assumed.
    """
    got: list[Floats] = [np.empty(0)] * len(problem.pairs)
    back: dict[int, Floats] | None = None
    for passes in range(MOST_PASSES):
        down = Downwards(problem, back)
        for number, pair, sent in down:
            got[number] = realized(pair, subsets[number], sent)
            down.brings(number, got[number])
        ends = {n: fixed_point(problem.pairs[n].rate_per_s, down.back[n], got[n], passes) for n in problem.cut}
        if all(done for _, done in ends.values()):
            break
        back = {number: brought for number, (brought, _) in ends.items()}
    return down.work, got
