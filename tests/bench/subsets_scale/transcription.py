"""Microns as it is written down: Algorithms 1 to 3 and equation 8, in NumPy, SciPy and one XGBoost call a service.

With the corrections without which it does not run: gradients aligned as the text says, absolute values in the stop test
of equation 7, secant steps that divide by 0 left out and bounded to a factor of 2 (30 steps at most: where a container
is slower without load than the mean, the test never holds), whole quotas that add up. Each service is called by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from xgboost import Booster

from sluice.subsets.application import Call
from sluice.subsets.latency.curves import BEYOND
from sluice.subsets.problem import Problem
from sluice.subsets.quotas import bounded

Floats = NDArray[np.float64]
ETA, THETA, BETA = 0.5, 5, 0.1
STEPS = 30


@dataclass(frozen=True, eq=False)
class Trained:
    mu: Booster
    sigma: Booster
    highest: float


class Transcription:
    """`solve` gives the downstream containers of each upstream one, by pair."""

    def __init__(self, problem: Problem, trained: Mapping[str, Trained]) -> None:
        self.problem = problem
        self.trained = trained
        self.z = float(ndtri(problem.percentile))
        self.rate = problem.rate_per_s
        names = [
            (problem.fleets[pair.upstream].service, problem.fleets[pair.downstream].service) for pair in problem.pairs
        ]
        self.number = {name: at for at, name in enumerate(names)}
        self.iterations = 0
        # Of pairs by their number, of merged ones by the call at their top; and the quotas that these hold.
        self.pair_gradient: dict[int, float] = {}
        self.gradient: dict[int, float] = {}
        self.held: dict[int, float] = {}

    def solve(self, tree: Call) -> tuple[list[list[NDArray[np.int64]]], float]:
        """Algorithm 1."""
        pairs = self.problem.pairs
        loads = [self._optimal(service) for service in range(len(self.problem.fleets))]
        least, most = np.array([pair.fewest for pair in pairs]), np.array([pair.all for pair in pairs])
        quota = bounded(np.array([float(len(pair.most)) for pair in pairs]), least, most, self.problem.quota)
        before, latency = (np.zeros(len(pairs)), np.zeros(len(pairs))), np.zeros(len(pairs))
        best, since, result = np.inf, 0, []
        while True:
            self.iterations += 1
            subsets, work, got = self._orchestrate(quota, loads)
            latency = self._pair_latency(work, got)
            now = self._merge(tree, latency, quota, before)
            since = 0 if now < best else since + 1
            if now < best:
                best, result = now, subsets
            if since >= THETA or self.iterations >= 100:
                return result, best
            before = latency, quota.astype(float)
            wanted = quota.astype(float)
            self._adjust(tree, float(quota.sum()), wanted)
            quota = bounded(wanted, least, most, self.problem.quota)

    # Equations 7 and 8

    def _latency(self, service: int, work: Floats) -> tuple[Floats, Floats]:
        """mu and sigma of a service's containers: one call of each model."""
        fleet = self.problem.fleets[service]
        model = self.trained[fleet.service]
        rows = np.column_stack([work, fleet.contention]).astype(np.float32)
        mu, sigma = model.mu.inplace_predict(rows), model.sigma.inplace_predict(rows)
        beyond = BEYOND * np.log(np.maximum(work / model.highest, 1.0))
        return mu.astype(np.float64) + beyond, np.maximum(sigma.astype(np.float64), 0.01)

    def _optimal(self, service: int) -> Floats:
        count = len(self.problem.fleets[service])
        total = float(self.rate[service])
        work = np.full(count, total / count)
        if self.problem.outside[service] >= total:
            return work
        mu, sigma = self._latency(service, work)
        latency = np.exp(mu + self.z * sigma)
        # The first secant needs a second point: a tenth less where it is slow.
        last, last_latency = work, latency
        work = work * np.where(latency > latency.mean(), 0.9, 1.1)
        work *= total / work.sum()
        for _ in range(STEPS):
            mu, sigma = self._latency(service, work)
            latency = np.exp(mu + self.z * sigma)
            mean = latency.mean()
            if np.abs(mean - latency).mean() / mean < BETA:
                break
            rise, run = latency - last_latency, work - last
            ok = rise * run > 0
            step = np.where(ok, (mean - latency) * run / np.where(ok, rise, 1.0), np.sign(mean - latency) * 0.2 * work)
            last, last_latency = work, latency
            work = np.clip(work + step, work / 2, work * 2)
            work *= total / work.sum()
        return work

    # Connection orchestration, and what flows then

    def _orchestrate(
        self, quota: NDArray[np.int64], loads: list[Floats]
    ) -> tuple[list[list[NDArray[np.int64]]], list[Floats], list[Floats]]:
        fleets = self.problem.fleets
        work = [np.full(len(fleet), out / len(fleet)) for fleet, out in zip(fleets, self.problem.outside, strict=True)]
        subsets: list[list[NDArray[np.int64]]] = [[] for _ in self.problem.pairs]
        got: list[Floats] = [np.empty(0)] * len(self.problem.pairs)
        for number in self.problem.order:
            pair = self.problem.pairs[number]
            part = pair.rate_per_s / self.rate[pair.upstream]
            wanted = loads[pair.downstream] * (pair.rate_per_s / loads[pair.downstream].sum())
            sizes = bounded(loads[pair.upstream], pair.least, pair.most, int(quota[number]))
            now, at = np.zeros(pair.containers), 0
            everybody = list(range(pair.containers))
            room = everybody.copy()
            sent = work[pair.upstream] * part
            for upper in range(len(sizes)):
                size, passed = int(sizes[upper]), 0
                chosen: list[int] = []
                share = sent[upper] / size
                while len(chosen) < size:
                    if not room or passed >= len(room):
                        # None has room, or the container has all that have: any will do.
                        room, passed = everybody.copy(), 0
                    at = at if at < len(room) else 0
                    capacity = room[at]
                    if capacity in chosen:
                        at, passed = at + 1, passed + 1
                        continue
                    chosen.append(capacity)
                    now[capacity] += share
                    if now[capacity] >= wanted[capacity]:
                        room.pop(at)
                    else:
                        at += 1
                subsets[number].append(np.array(chosen, dtype=np.int64))
            got[number] = now
            work[pair.downstream] = work[pair.downstream] + now
        return subsets, work, got

    def _pair_latency(self, work: list[Floats], got: list[Floats]) -> Floats:
        """Brent's method on the mixture of each pair (5.4), in ms."""
        result = np.empty(len(got))
        parts = [self._latency(service, load) for service, load in enumerate(work)]
        for number, pair in enumerate(self.problem.pairs):
            mu, sigma = parts[pair.downstream]
            weight = got[number] / got[number].sum()
            own = (mu + self.z * sigma)[weight > 0]

            def over(at: float, mu: Floats = mu, sigma: Floats = sigma, weight: Floats = weight) -> float:
                return float(weight @ ndtr((at - mu) / sigma) - self.problem.percentile)

            result[number] = np.exp(brentq(over, own.min() - 1e-6, own.max() + 1e-6))
        return result

    # Algorithm 2: gradients of pairs and of merged ones, and the end-to-end latency

    def _merge(self, call: Call, latency: Floats, quota: NDArray[np.int64], before: tuple[Floats, Floats]) -> float:
        total, _, _, _ = self._subgraph(call, latency, quota.astype(float), before)
        return total

    def _subgraph(
        self, call: Call, latency: Floats, quota: Floats, before: tuple[Floats, Floats]
    ) -> tuple[float, float, float, float]:
        """Latency now and before, quota now and before, of all that is below a call."""
        sums = np.zeros(4)
        for stage in call.stages:
            below = [np.array(self._branch(call, item, latency, quota, before)) for item in stage]
            if len(below) > 1:
                longest = max(moments[0] for moments in below)
                for item, moments in zip(stage, below, strict=True):
                    self.gradient[id(item)] *= moments[0] / longest if longest > 0 else 1.0
            sums += [
                max(moments[0] for moments in below),
                max(moments[1] for moments in below),
                *np.sum(below, axis=0)[2:],
            ]
        return float(sums[0]), float(sums[1]), float(sums[2]), float(sums[3])

    def _branch(
        self, above: Call, call: Call, latency: Floats, quota: Floats, before: tuple[Floats, Floats]
    ) -> tuple[float, float, float, float]:
        """A pair with the subgraph below it, as one pair (e_s of Algorithm 2)."""
        number = self.number[above.service, call.service]
        own = np.array([latency[number], before[0][number], quota[number], before[1][number]])
        self.pair_gradient[number] = _gradient(own, self.pair_gradient.get(number, 0.0))
        whole = own + self._subgraph(call, latency, quota, before)
        self.gradient[id(call)] = _gradient(whole, self.gradient.get(id(call), 0.0))
        self.held[id(call)] = float(whole[2])
        return float(whole[0]), float(whole[1]), float(whole[2]), float(whole[3])

    # Algorithm 3: from the whole down into its parts

    def _adjust(self, call: Call, total: float, quota: Floats) -> None:
        """Writes quotas that add up to `total` over all that is below a call."""
        branches = [item for stage in call.stages for item in stage]
        if not branches:
            return
        held = np.array([self.held[id(branch)] for branch in branches])
        shares = _moved(np.array([self.gradient[id(branch)] for branch in branches]), held, total)
        for item, share in zip(branches, shares.tolist(), strict=True):
            number = self.number[call.service, item.service]
            below = self.held[id(item)] - quota[number]
            if not item.stages:
                quota[number] = share
                continue
            gradient = np.array([self.pair_gradient[number], self.gradient[id(item)]])
            own, rest = _moved(gradient, np.array([quota[number], below]), share).tolist()
            quota[number] = own
            self._adjust(item, rest, quota)


def _gradient(of: Floats, known: float) -> float:
    """Equation 6; before the first change as if latency were in proportion to 1 / quota."""
    if of[3] == 0:
        return float(-of[0] / of[2])
    return float((of[0] - of[1]) / (of[2] - of[3])) if of[2] != of[3] else known


def _moved(gradient: Floats, quota: Floats, total: float) -> Floats:
    """Lines 4 to 8 of Algorithm 3, line 7 as the text has it."""
    aligned = gradient - gradient.max()
    mean = aligned.mean()
    factor = 1 + ETA * (aligned - mean) / mean if mean < 0 else np.ones(len(quota))
    moved = quota * np.clip(factor, 1 - ETA, 2)
    return np.asarray(moved * (total / moved.sum()))
