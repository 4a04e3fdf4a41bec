"""The pairs of all call trees, with their rates."""

from __future__ import annotations

from collections.abc import Iterator

from sluice.subsets.application import Application, Call


def edges(application: Application) -> Iterator[tuple[str, str, float]]:
    """Upstream, downstream and calls per second of each call of each tree. A pair may come several times."""
    for root in application.roots:
        yield from edges_of(root.tree, root.rate_per_s)
    for pair in application.pairs:
        yield pair.upstream, pair.downstream, pair.rate_per_s


def edges_of(tree: Call, rate: float = 1.0) -> Iterator[tuple[str, str, float]]:
    """The same for one tree that is called `rate` times a second."""
    below: list[tuple[Call, float]] = [(tree, rate)]
    while below:
        call, often = below.pop()
        for stage in call.stages:
            for callee in stage:
                yield call.service, callee.service, often * callee.calls
                below.append((callee, often * callee.calls))


def rates(application: Application) -> dict[tuple[str, str], float]:
    """Calls per second of each pair of two services, over all trees. The sum does not depend on the order of the
    input."""
    by_pair: dict[tuple[str, str], list[float]] = {}
    for up, down, rate in edges(application):
        if up == down:
            continue
        by_pair.setdefault((up, down), []).append(rate)
    return {pair: sum(sorted(by_pair[pair])) for pair in sorted(by_pair)}
