"""A trial on the simulated application: run, warmed up, and judged by what users saw."""

from __future__ import annotations

import numpy as np

from bench.tuning.network import Laws, applied
from sluice.tuning.objective.outcome import Outcome, TrialVerdict
from sluice.tuning.space import Configuration
from testbed.mesh.memory import ARRIVED, ENDED, FAILED
from testbed.mesh.run import MeshRun

WARM_UP_S, TRIAL_S = 1.0, 4.0
# Users have left long before.
LATEST_MS = 5_000.0


def measured(configuration: Configuration, laws: Laws, seed: int, seconds: float = TRIAL_S) -> Outcome:
    """p95 of all requests in ms, with an interval over blocks of half a second. FAILED where over 5 % do not end.

    Of requests that arrived in the window and ended within it, or were under way at its end: those took too long.
    """
    application, solution = applied(configuration, laws)
    run = MeshRun(application, solution, seed)
    run.until(WARM_UP_S + seconds)
    rows = run.engine.rows()
    rows = rows[rows[:, ARRIVED] >= WARM_UP_S]
    expected = sum(root.rate_per_s for root in application.roots) * seconds
    if len(rows) < 0.9 * expected:
        return Outcome(TrialVerdict.FAILED, why=f"{len(rows)} of about {expected:.0f} requests ended")
    latency_ms = np.where(rows[:, FAILED] > 0, LATEST_MS, (rows[:, ENDED] - rows[:, ARRIVED]) * 1e3)
    return Outcome(TrialVerdict.GOOD, float(np.quantile(latency_ms, 0.95)))
