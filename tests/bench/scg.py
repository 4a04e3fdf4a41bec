"""SCG: curves of 600 points per second on one core, beside the bare fit and knee that the paper describes."""

import time
from collections.abc import Callable

import numpy as np
from kneed import KneeLocator
from numpy.polynomial import Polynomial

from humps import draw_samples, draw_service
from sluice.pools.estimate import Samples, Scg

CURVES = 300
# 10,000 curves in one control period of 15 s on two cores.
BAR_PER_CORE = 10_000 / 15 / 2


def bare(samples: Samples) -> float | None:
    """The reference: mean goodput per whole number in flight, a polynomial of degree 5, Kneedle; no checks."""
    level = np.rint(samples.concurrency).astype(int)
    count = np.bincount(level)
    seen = np.flatnonzero(count)
    mean = np.bincount(level, weights=samples.goodput_per_s)[seen] / count[seen]
    if len(seen) <= 5:
        return None
    x = np.linspace(seen[0], seen[-1], 101)
    y = Polynomial.fit(seen, mean, 5)(x)
    knee = KneeLocator(x, y, curve="concave", direction="increasing").knee
    return None if knee is None else float(knee)


def run() -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    rng = np.random.default_rng(1)
    services = [draw_service(rng) for _ in range(CURVES)]
    curves = [draw_samples(rng, service, highest=3.0 * service.best()) for service in services]
    scg = Scg()
    reference, measured = curves_per_s(bare, curves), curves_per_s(scg.estimate, curves)
    return [
        ("reference: mean per level, degree 5, Kneedle", f"{reference:,.0f} curves/s/core"),
        ("scg", f"{measured:,.0f} curves/s/core"),
        ("scg / reference", f"{measured / reference:.2f}"),
        (f"scg / bar of {BAR_PER_CORE:.0f} curves/s/core", f"{measured / BAR_PER_CORE:.2f}"),
    ]


def curves_per_s(estimate: Callable[[Samples], object], curves: list[Samples]) -> float:
    """Best of three passes, by CPU time: what else runs on the machine does not count."""
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        for samples in curves:
            estimate(samples)
        best = min(best, time.process_time() - begun)
    return len(curves) / best
