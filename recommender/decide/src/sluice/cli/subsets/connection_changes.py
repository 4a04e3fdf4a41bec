"""Compares connections and weights with earlier ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sluice.cli.output import CliError
from sluice.cli.pools.message_json import message_to_json

#: Upstream service, its container, downstream service: weight of each downstream container. The weights' mean is 1.
Connections = Mapping[tuple[str, str, str], Mapping[str, float]]
# Relative difference below which weights count as the same.
SAME = 0.01


@dataclass(frozen=True)
class WeightChange:
    """before, after: weights; None where there is no connection."""

    upstream: str
    from_: str
    downstream: str
    to: str
    before: float | None
    after: float | None

    def row(self) -> tuple[str, ...]:
        weights = ["-" if weight is None else f"{weight:.2f}" for weight in (self.before, self.after)]
        return self.upstream, self.from_, self.downstream, self.to, *weights


@dataclass(frozen=True)
class Difference:
    """moved: new or gone connections, by pair of services the larger number of the two, so that a connection that moved
    counts once. connections: those before or those after, the larger number."""

    changes: list[WeightChange]
    moved: int
    connections: int

    @property
    def churn(self) -> float:
        return self.moved / max(self.connections, 1)

    def to_json(self) -> dict[str, Any]:
        changes = [{key.removesuffix("_"): value for key, value in asdict(change).items()} for change in self.changes]
        return {"moved": self.moved, "connections": self.connections, "churn": self.churn, "changes": changes}


def difference(before: Connections, after: Connections, weights: bool) -> Difference:
    """Changes in the order of names. `weights`: also changed weights of connections that stay."""
    changes: list[WeightChange] = []
    gone: dict[tuple[str, str], int] = {}
    new: dict[tuple[str, str], int] = {}
    for key in sorted(before.keys() | after.keys()):
        was, now, pair = before.get(key, {}), after.get(key, {}), (key[0], key[2])
        gone[pair] = gone.get(pair, 0) + len(was.keys() - now.keys())
        new[pair] = new.get(pair, 0) + len(now.keys() - was.keys())
        for to in sorted(was.keys() | now.keys()):
            old, young = was.get(to), now.get(to)
            if old is None or young is None or (weights and abs(young - old) >= SAME * old):
                changes.append(WeightChange(*key, to, old, young))
    connections = max(sum(map(len, subsets.values())) for subsets in (before, after))
    return Difference(changes, sum(max(gone[pair], new[pair]) for pair in gone), connections)


def connections_of_subsets(subsets: Iterable[Any]) -> Connections:
    """Connections of messages sluice.subsets.v1.Subset."""
    return _of_list(map(message_to_json, subsets))


def connections_of_file(path: str) -> Connections:
    """Connections in a file: a list of subsets, or a solution.

    Raises:
        CliError: the file cannot be read, or is neither.
    """
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except (OSError, ValueError) as error:
        raise CliError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    try:
        return _of_list(value) if isinstance(value, list) else _of_solution(value)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise CliError(
            f"cannot read {path}: it is neither output of `sluice subsets list -o json` nor of `solve -o json`"
        ) from None


def _of_list(value: Iterable[Any]) -> Connections:
    return {
        (subset["key"]["upstream"], subset["key"]["instance"], subset["key"]["downstream"]): _mean_1(
            {end["instance"]: float(end["weight"]) for end in subset["endpoints"]}
        )
        for subset in value
    }


def _of_solution(value: dict[str, Any]) -> Connections:
    by_subset: dict[tuple[str, str, str], dict[str, float]] = {}
    for pair in value["pairs"]:
        for end in pair["connections"]:
            key = pair["upstream"], end["from"], pair["downstream"]
            by_subset.setdefault(key, {})[end["to"]] = float(end.get("weight", 1.0))
    return {key: _mean_1(ends) for key, ends in by_subset.items()}


def _mean_1(weights: dict[str, float]) -> dict[str, float]:
    mean = sum(weights.values()) / max(len(weights), 1)
    return {name: weight / mean if mean > 0 else 1.0 for name, weight in weights.items()}
