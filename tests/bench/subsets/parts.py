"""The tables as benchmarks: each takes whether to be quick, and returns its tables."""

from __future__ import annotations

from bench.subsets import ablations, dynamic, sensitivity, sizes, static
from bench.subsets.cells import SEEDS

FEW = 96
"""Containers when it is quick."""


def static_deployments(quick: bool) -> str:
    if not quick:
        return static.report(static.cells())
    return static.report(static.cells(shapes=["hotel"], cases=static.ALL[3:4], seeds=SEEDS[:1], containers=FEW))


def dynamic_deployment(quick: bool) -> str:
    return dynamic.report(dynamic.lives(("sre", "full", "microns")) if quick else dynamic.lives())


def numbers_of_containers(quick: bool) -> str:
    if not quick:
        return sizes.report(sizes.cells())
    return sizes.report(sizes.cells(containers=(64, FEW), differences=(0.0,), seeds=SEEDS[:1]))


def modules(quick: bool) -> str:
    return ablations.report(ablations.cells(FEW, SEEDS[:1], ["hotel"]) if quick else ablations.cells())


def parameters(quick: bool) -> str:
    return sensitivity.report(sensitivity.p95s(FEW, SEEDS[:1], ["hotel"]) if quick else sensitivity.p95s())
