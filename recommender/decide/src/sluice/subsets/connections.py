"""Who is connected to whom within one pair, and what flows through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.problem import Problem


@dataclass(frozen=True, eq=False)
class Connections:
    """y connections of a pair, those of an upstream container next to each other, by downstream container.

    start: (U + 1,) where those of each upstream container begin. to: (y,) downstream containers. share: (y,) of the
    upstream container's calls; they add up to 1.
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
        """Calls per second that each of `containers` downstream ones gets, where the upstream ones make `sent`,
        (U,)."""
        flow = np.repeat(sent, np.diff(self.start)) * self.share
        return np.asarray(np.bincount(self.to, weights=flow, minlength=containers), dtype=np.float64)


def connections(subsets: Sequence[Ints], shares: Sequence[Floats] | None = None) -> Connections:
    """From the downstream containers of each upstream one, none twice; each gets the same share where none are
    given."""
    start = np.concatenate([[0], np.cumsum([len(each) for each in subsets])]).astype(np.int64)
    if shares is None:
        shares = [np.full(len(each), 1 / max(len(each), 1)) for each in subsets]
    orders = [np.argsort(each, kind="stable") for each in subsets]
    return Connections(
        start,
        np.concatenate([each[order] for each, order in zip(subsets, orders, strict=True)]).astype(np.int64),
        np.concatenate([each[order] for each, order in zip(shares, orders, strict=True)]),
    )


def flow(problem: Problem, subsets: Sequence[Connections]) -> tuple[list[Floats], list[Floats]]:
    """Workload(x, W) of Microns, 5.1: calls per second of each service's containers, and of each pair's downstream
    ones.

    What comes from outside is spread evenly over the containers of a service. A container makes calls in proportion to
    those that it gets.
    """
    rate = problem.rate_per_s
    work = [
        np.full(len(fleet), outside / len(fleet))
        for fleet, outside in zip(problem.fleets, problem.outside, strict=True)
    ]
    got: list[Floats] = [np.empty(0)] * len(problem.pairs)
    for number in problem.order:
        pair = problem.pairs[number]
        sent = work[pair.upstream] * (pair.rate_per_s / rate[pair.upstream])
        got[number] = subsets[number].received(sent, pair.containers)
        work[pair.downstream] += got[number]
    return work, got
