"""Removes the calls of a service to itself. They need no connection between two services' containers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sluice.subsets.application import Application, Call, Root
from sluice.subsets.calls import edges_of


def parts(tree: Call, wanted: Callable[[str, str], bool]) -> Iterator[tuple[Call, float]]:
    """Cuts a tree at the calls that are not wanted (by upstream and downstream service).

    Yields the tree without those calls, then what is below each of them, each with how often it runs per call of the
    tree.
    """
    loose: list[tuple[Call, float]] = []

    def kept(call: Call, often: float) -> Call:
        stages = []
        for stage in call.stages:
            stays = []
            for callee in stage:
                below = kept(callee, often * callee.calls)
                if wanted(call.service, callee.service):
                    stays.append(below)
                elif below.stages:
                    loose.append((replace(below, calls=1.0), often * callee.calls))
            if stays:
                stages.append(tuple(stays))
        return Call(call.service, tuple(stages), call.calls)

    yield kept(tree, 1.0), 1.0
    yield from loose


def without_self_calls(application: Application) -> Application:
    """Removes self calls as the pipeline does (`cut.roots`): what is below one becomes a root with the same rate. A
    service that calls only itself gets no more calls for that, because nothing is known about where they go."""
    if not any(up == down for up, down in _edges(application)):
        return application
    roots = []
    for root in application.roots:
        for number, (tree, often) in enumerate(parts(root.tree, lambda up, down: up != down)):
            name = root.name if number == 0 else f"{root.name} (below call {number} of {tree.service} to itself)"
            roots.append(Root(name, root.rate_per_s * often, tree))
    pairs = tuple(pair for pair in application.pairs if pair.upstream != pair.downstream)
    return replace(application, roots=tuple(roots), pairs=pairs)


def _edges(application: Application) -> Iterator[tuple[str, str]]:
    for root in application.roots:
        yield from ((up, down) for up, down, _ in edges_of(root.tree))
    yield from ((pair.upstream, pair.downstream) for pair in application.pairs)
