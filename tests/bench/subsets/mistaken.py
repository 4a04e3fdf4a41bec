"""Microns with predictions that are wrong by a stated share (7.4, figure 13e)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bench.subsets.strategies import learnt, solved
from sluice.subsets.document.application import read_application
from sluice.subsets.latency.curves import Curves
from sluice.subsets.microns.solve import solve
from sluice.subsets.predict import all_curves, predict
from sluice.subsets.problem import problem
from testbed.mesh.dynamic import Strategy
from testbed.mesh.solution import Solution


def mistaken(share: float, samples: str, seed: int = 1) -> Strategy:
    """Each container's latency is predicted ``share`` too high or too low, whichever is drawn, at every load."""

    def strategy(application: dict[str, Any], before: Solution | None) -> Solution:
        document = read_application(application)
        asked = problem(document.application)
        rng = np.random.default_rng(seed)
        model = learnt(samples, tuple(each.service for each in asked.fleets))
        curves = [_off(each, share, rng) for each in all_curves(asked, model)]
        found = solve(asked, curves, document.settings).solution
        return solved(asked, found, predict(asked, curves, found.subsets))

    return strategy


def _off(curves: Curves, share: float, rng: np.random.Generator) -> Curves:
    factor = 1.0 + share * rng.choice([-1.0, 1.0], len(curves.mu))
    return Curves(curves.rate_per_s, curves.mu + np.array([math.log(each) for each in factor])[:, None], curves.sigma)
