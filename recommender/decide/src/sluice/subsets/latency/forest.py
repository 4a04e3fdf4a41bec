"""Boosted trees as arrays, and their sum over the whole range of one feature at once.

To predict one load at a time, a forest needs a row for each load that the solver tries. This module goes through the
leaves instead. A leaf is a box: it applies to the containers whose hosts are within it, for a range of rates. The sum
of all leaves is an exact step function of the rate for each container, at the cost of a few rows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sluice.fast.compiled import compiled
from sluice.subsets.fleet import Floats, Ints

if TYPE_CHECKING:
    from xgboost import Booster

Float32s = NDArray[np.float32]

#: The rate, and the three utilizations of a host.
FEATURES = 4


@dataclass(frozen=True, eq=False)
class Forest:
    """The leaves of all trees. lower, upper: (L, 4) the range of each feature, the rate first. value: (L,) what a leaf
    adds."""

    base: float
    lower: Float32s
    upper: Float32s
    value: Float32s

    def rates(self) -> Float32s:
        """The rates at which the sum can change, rising."""
        return np.unique(self.upper[np.isfinite(self.upper[:, 0]), 0])

    def between(self, rates: Float32s) -> Steps:
        """Steps over the m + 1 ranges between `rates`, which contain all of the forest's splits."""
        low = np.where(np.isfinite(self.lower[:, 0]), np.searchsorted(rates, self.lower[:, 0]) + 1, 0)
        high = np.where(np.isfinite(self.upper[:, 0]), np.searchsorted(rates, self.upper[:, 0]), len(rates))
        return Steps(self, low, high, len(rates))


@dataclass(frozen=True, eq=False)
class Steps:
    """A forest over `count` + 1 ranges of rates. low, high: (L,) the first and the last range that a leaf applies
    to."""

    forest: Forest
    low: Ints
    high: Ints
    count: int

    def of(self, others: Float32s) -> Floats:
        """Values for (n, 3) other features, (n, count + 1)."""
        forest = self.forest
        columns = np.ascontiguousarray(others.T)
        added = _added(forest.lower, forest.upper, forest.value, self.low, self.high, columns, self.count)
        return forest.base + np.cumsum(np.ascontiguousarray(added[:-1].T), axis=1, dtype=np.float64)


def forest(booster: Booster) -> Forest:
    """The leaves of a trained model."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    trees: list[dict[str, Any]] = learner["gradient_booster"]["model"]["trees"]
    parts_of_trees = [
        _leaves(
            np.asarray(tree["left_children"], dtype=np.int64),
            np.asarray(tree["right_children"], dtype=np.int64),
            np.asarray(tree["split_indices"], dtype=np.int64),
            np.asarray(tree["split_conditions"], dtype=np.float32),
            FEATURES,
        )
        for tree in trees
    ]
    base = float(str(learner["learner_model_param"]["base_score"]).strip("[]"))
    lower, upper, value = (np.concatenate(column) for column in zip(*parts_of_trees, strict=True))
    return Forest(base, lower, upper, value)


@compiled
def _leaves(
    left: Ints, right: Ints, feature: Ints, threshold: Float32s, features: int
) -> tuple[Float32s, Float32s, Float32s]:
    """The boxes and values of leaves. A value below a node's threshold goes left. A leaf has left -1, and its value as
    threshold."""
    lower = np.full((len(left), features), -np.inf, dtype=np.float32)
    upper = np.full((len(left), features), np.inf, dtype=np.float32)
    for node in range(len(left)):  # a node comes before those below it
        if left[node] < 0:
            continue
        for child in (left[node], right[node]):
            lower[child] = lower[node]
            upper[child] = upper[node]
        upper[left[node], feature[node]] = threshold[node]
        lower[right[node], feature[node]] = threshold[node]
    leaves = left < 0
    return lower[leaves], upper[leaves], threshold[leaves]


@compiled
def _added(
    lower: Float32s, upper: Float32s, value: Float32s, low: Ints, high: Ints, others: Float32s, count: int
) -> Float32s:
    """(count + 2, n): what is added from each range of rates on. It has no branches, so that the compiler vectorizes
    rows."""
    rows = others.shape[1]
    totals = np.zeros((count + 2, rows), dtype=np.float32)
    one, two, three = others[0], others[1], others[2]
    within = np.empty(rows, dtype=np.float32)
    for leaf in range(len(value)):
        from_1, from_2, from_3 = lower[leaf, 1], lower[leaf, 2], lower[leaf, 3]
        to_1, to_2, to_3 = upper[leaf, 1], upper[leaf, 2], upper[leaf, 3]
        adds = value[leaf]
        for row in range(rows):
            inside = (
                (one[row] >= from_1)
                & (one[row] < to_1)
                & (two[row] >= from_2)
                & (two[row] < to_2)
                & (three[row] >= from_3)
                & (three[row] < to_3)
            )
            within[row] = adds if inside else np.float32(0.0)
        begin, end = totals[low[leaf]], totals[high[leaf] + 1]
        for row in range(rows):
            begin[row] += within[row]
        for row in range(rows):
            end[row] -= within[row]
    return totals
