"""The threshold of a pool without an SLO or a threshold of its own, from its response times while it was not full.

A minute counts where its busiest instance had at most half of the pool in use, as a mean over the minute: then nothing
waits for the pool for long. The threshold is 3 times the median of these minutes' p95, and never less than the median
of their p99: what takes so long while nothing waits is no fault of the size.

It describes what the service does, and promises nothing to its users. So decisions on it are held unless the file lets
them be applied (`derived_slo: {apply: true}`).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from sluice.model.durations import format_ms
from sluice.model.reason import Reason
from sluice.pools.estimate.threshold import LONGEST_MS, Threshold

FACTOR = 3.0
# Part of the pool in use.
NOT_FULL = 0.5
# The p95 of fewer completions is the slowest one alone.
LEAST_COMPLETIONS = 20
LEAST_MINUTES = 3
# A threshold stays until a new one differs by more than this part of it: each change makes the decider read the pool's
# windows again.
STANDS = 0.2


def derived_threshold(
    p95_ms: Sequence[float], p99_ms: Sequence[float], standing_ms: float | None, applies: bool
) -> Threshold:
    """The threshold by p95 and p99 of each minute that counts. standing_ms: the last one. applies: as in `Threshold`.

    Worked: p95 of 40, 50 and 44 ms, p99 of 60, 150 and 110 ms -> 3 x 44 = 132 ms; p99 of 160, 150 and 140 ms -> 150 ms.
    132 ms stand while 105.6 to 158.4 ms are measured. From two minutes none is derived: 132 ms stand, or nothing is
    judged.
    """
    if len(p95_ms) < LEAST_MINUTES:
        seen = f"{len(p95_ms)} of {LEAST_MINUTES} minutes were seen in which at most half of the pool was in use"
        if standing_ms is None:
            reason = Reason("NO_THRESHOLD", f"no SLO is of the pool's service, and {seen}")
            return Threshold(LONGEST_MS, "none", reason.text, (reason,), applies=False)
        return _derived(standing_ms, f"{format_ms(standing_ms)}, derived earlier; {seen} since", applies)
    usual_ms, floor_ms = median(p95_ms), median(p99_ms)
    minutes = f"of {len(p95_ms)} minutes in which at most half of the pool was in use"
    newest_ms, detail = FACTOR * usual_ms, f"{FACTOR:g} x {usual_ms:.4g} ms, the median p95 {minutes}"
    if floor_ms > newest_ms:
        newest_ms, detail = floor_ms, f"{floor_ms:.4g} ms, the median p99 {minutes}, above {FACTOR:g} x the median p95"
    newest_ms = min(newest_ms, LONGEST_MS)
    if standing_ms is None or abs(newest_ms - standing_ms) > STANDS * standing_ms:
        return _derived(newest_ms, detail, applies)
    return _derived(standing_ms, f"{detail}; {standing_ms:.4g} ms stand, at most {STANDS:.0%} off", applies)


def _derived(value_ms: float, detail: str, applies: bool) -> Threshold:
    reason = Reason("SLO_DERIVED", f"no SLO is of the pool's service: {detail}")
    return Threshold(value_ms, "derived", detail, (reason,), applies)
