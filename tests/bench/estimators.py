"""The estimator study: humps whose best size is known, and load that never reaches it, by the thousand."""

import numpy as np

from humps import Service, draw_samples, draw_service
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.model import Estimator
from sluice.pools.estimate.models import ESTIMATORS

SCATTERS = 1000
# Goodput lost against the best size that counts as a bad answer.
BAD = 0.10


def run() -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    return [row for name, estimator in ESTIMATORS.items() for row in _study(name, estimator)]


def _study(name: str, estimator: Estimator) -> list[tuple[str, str]]:
    lost, answered = [], 0
    for seed in range(SCATTERS):
        rng = np.random.default_rng(seed)
        service = draw_service(rng)
        best = service.best()
        estimate = estimator.estimate(draw_samples(rng, service, best * rng.uniform(1.5, 5)))
        if estimate.target is not None:
            lost.append(regret(service, estimate.target, best))
    shrunk = 0
    for seed in range(SCATTERS):
        rng = np.random.default_rng(SCATTERS + seed)
        service = draw_service(rng)
        reach = service.best() * rng.uniform(0.3, 0.8)
        estimate = estimator.estimate(draw_samples(rng, service, reach))
        answered += estimate.target is not None
        shrunk += _loses_what_was_seen(service, estimate, reach)
    return [
        (f"{name}: humps answered", f"{len(lost) / SCATTERS:.1%}"),
        (f"{name}: of those, lose more than {BAD:.0%} of the goodput", f"{np.mean(np.array(lost) > BAD):.1%}"),
        (f"{name}: mean and worst regret", f"{np.mean(lost):.1%}, {np.max(lost):.1%}"),
        (f"{name}: answered though load reached 0.3 to 0.8 of the best size", f"{answered / SCATTERS:.1%}"),
        (f"{name}: and more than {BAD:.0%} below goodput already seen", f"{shrunk / SCATTERS:.1%}"),
    ]


def regret(service: Service, size: int, best: int) -> float:
    """Share of the best size's goodput that `size` loses."""
    got, top = service.goodput(np.array([float(size), float(best)]))
    return float(1 - got / top)


def _loses_what_was_seen(service: Service, estimate: Estimate, reach: float) -> bool:
    if estimate.target is None or estimate.target >= reach:
        return False
    got, seen = service.goodput(np.array([float(estimate.target), reach]))
    return bool(1 - got / seen > BAD)
