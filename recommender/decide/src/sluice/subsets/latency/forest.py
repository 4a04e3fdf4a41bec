"""Boosted trees as arrays, and their sum over the whole range of one feature at once.

Asked one load at a time, a forest answers a row for each load that the solver tries. Here the other features are put in
first: what is left of a tree are the leaves that they let through, each over a range of rates. Their sum is a step
function of the rate, exact, at the price of about one row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sluice.subsets.compiled import compiled
from sluice.subsets.fleet import Floats, Ints

if TYPE_CHECKING:
    from xgboost import Booster

Float32s = NDArray[np.float32]

#: The feature that the others are put in for.
RATE = 0


@dataclass(frozen=True, eq=False)
class Forest:
    """Nodes of all trees, and where each tree begins. A leaf has left -1, and its value as threshold; else what is
    below the threshold goes left."""

    base: float
    first: Ints
    left: Ints
    right: Ints
    feature: Ints
    threshold: Float32s

    def rates(self) -> Float32s:
        """Where its value can change, rising."""
        return np.unique(self.threshold[(self.left >= 0) & (self.feature == RATE)])

    def steps(self, others: Float32s, rates: Float32s) -> Floats:
        """Values of (n, 3) other features over the m + 1 ranges between `rates`, which have all that it splits by."""
        place = np.searchsorted(rates, self.threshold).astype(np.int64)
        return _steps(
            self.base, self.first, self.left, self.right, self.feature, self.threshold, place, others, len(rates)
        )


def forest(booster: Booster) -> Forest:
    """The arrays of a trained model."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    trees: list[dict[str, Any]] = learner["gradient_booster"]["model"]["trees"]
    sizes = [len(tree["left_children"]) for tree in trees]
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def nodes(field: str, kind: type[np.generic]) -> NDArray[Any]:
        return np.concatenate([np.asarray(tree[field], dtype=kind) for tree in trees])

    offset = np.repeat(first[:-1], sizes)
    left, right = nodes("left_children", np.int64), nodes("right_children", np.int64)
    base = float(str(learner["learner_model_param"]["base_score"]).strip("[]"))
    return Forest(
        base,
        first,
        np.where(left >= 0, left + offset, -1),
        np.where(right >= 0, right + offset, -1),
        nodes("split_indices", np.int64),
        nodes("split_conditions", np.float32),
    )


@compiled
def _steps(
    base: float,
    first: Ints,
    left: Ints,
    right: Ints,
    feature: Ints,
    threshold: Float32s,
    place: Ints,
    others: Float32s,
    count: int,
) -> Floats:
    found = np.zeros((len(others), count + 2))
    stack = np.empty((64, 3), dtype=np.int64)
    for row in range(len(others)):
        line = found[row]
        line[0] = base
        for tree in range(len(first) - 1):
            depth = 1
            stack[0, 0], stack[0, 1], stack[0, 2] = first[tree], 0, count
            while depth > 0:
                depth -= 1
                node, low, high = stack[depth, 0], stack[depth, 1], stack[depth, 2]
                while left[node] >= 0:
                    if feature[node] != 0:
                        node = left[node] if others[row, feature[node] - 1] < threshold[node] else right[node]
                    elif high <= place[node]:
                        node = left[node]
                    elif low > place[node]:
                        node = right[node]
                    else:
                        stack[depth, 0], stack[depth, 1], stack[depth, 2] = right[node], place[node] + 1, high
                        depth += 1
                        node, high = left[node], place[node]
                line[low] += threshold[node]
                line[high + 1] -= threshold[node]
        for each in range(1, count + 1):
            line[each] += line[each - 1]
    return found[:, : count + 1].copy()
