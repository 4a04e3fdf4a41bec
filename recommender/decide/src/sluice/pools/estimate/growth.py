"""Growth of a pool that is too small for its model to see the best size (Sora 3.2). Pure.

A pool that is full hides the curve beyond its size, so no model names a larger one. Sora raises the allocation step by
step until the knee shows. ConScale has no such rule, and could never leave a pool that is too small. One step is a
quarter of the size, for every model.

With gates, a step has to pay. The pool's full buckets are compared with those at the nearest smaller size of the
window: the next step follows where they complete more, by two standard errors and by a third of what is proportional
to the size. Where they do not, the pool goes back to the smaller size, and the larger one is refused for 10 min, twice
as long each time (`policy/harm.py`). So a steady overload does not raise it without end.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sluice.model.reason import Reason
from sluice.model.states import State
from sluice.pools.estimate.full_pool import is_limited, more_when_full
from sluice.pools.estimate.model import Estimate
from sluice.pools.estimate.samples import Floats, Samples

QUARTER = 0.25
# A knee this near to the size of a full pool lies at the edge of the visible curve.
AT_THE_EDGE = 0.8
# Buckets with traffic before the first step, as `evidence.Need` has them, in s. A load that has just begun fills a pool
# whose service is about to collapse.
SEEN_S = 30.0
# Full buckets of a size before it is judged, in s; and the rise that pays, as a part of the one that is proportional.
JUDGED_S, PAYS, STANDARD_ERRORS = 3.0, 1 / 3, 2.0
# No model states how likely a step pays.
CONFIDENCE = 0.5


def larger(size: int) -> int:
    """One step of growth. Worked: 5 -> 7, 7 -> 9, 20 -> 25."""
    return size + math.ceil(QUARTER * size)


def newest_size(samples: Samples) -> int | None:
    """The size in force in the newest bucket; None where no actuator reported one."""
    if len(samples) == 0:
        return None
    newest = samples.limit[-1 if samples.start_ms is None else int(np.argmax(samples.start_ms))]
    return None if math.isnan(newest) else int(newest)


def as_published(estimate: Estimate, samples: Samples | None, size: int | None) -> Estimate:
    """The estimate, or a step of growth where the pool was full in a tenth of the buckets at its size, and the model
    names no size below 0.8 of it. size: in force; None: not known, which gives no growth."""
    if samples is None or size is None or not is_limited(samples.take(samples.limit == size)):
        return estimate
    if estimate.target is not None and estimate.target < AT_THE_EDGE * size:
        return estimate
    return _step(estimate, larger(size), Reason("GROWS", f"the pool is full at {size}, and hides larger sizes"))


def gated(estimate: Estimate, samples: Samples | None, size: int | None, bucket_s: float) -> Estimate:
    """The estimate, or where it names no size for a full pool, a step up, or back from a step that does not pay. Where
    nothing completes, no size is better.

    Worked: 5 full threads complete 500 a second, 7 complete 690 and 9 complete 880: up to 12. 12 and 15 complete 1,000
    both: from 15 back to 12.
    """
    if estimate.target is not None or estimate.state is State.NO_DATA:
        return estimate
    if samples is None or size is None or len(samples) * bucket_s < SEEN_S:
        return estimate
    at_size = samples.take(samples.limit == size)
    full = _full_per_s(samples, size)
    if not is_limited(at_size) or len(full) * bucket_s < JUDGED_S or more_when_full(at_size) is False:
        return estimate
    judged = _judged(samples, bucket_s)
    tried = min((other for other in judged if other > size), default=None)
    if tried is not None and not _pays(full, _full_per_s(samples, tried), tried / size):
        return estimate
    smaller = max((other for other in judged if other < size), default=None)
    if smaller is None:
        return _step(estimate, larger(size), Reason("GROWS", f"the pool is full at {size}, and hides larger sizes"))
    before = _full_per_s(samples, smaller)
    does = f"{full.mean():.4g}/s of the full pool at {size}, {before.mean():.4g}/s at {smaller}"
    if _pays(before, full, size / smaller):
        return _step(estimate, larger(size), Reason("GROWS", does))
    return replace(_step(estimate, smaller, Reason("GROWTH_UNPAID", does)), unpaid=True)


def _step(estimate: Estimate, target: int, reason: Reason) -> Estimate:
    return replace(
        estimate,
        state=State.UNSATURATED,
        reasons=(reason, *estimate.reasons),
        target=target,
        lower_bound=None,
        upper_bound=None,
        confidence=CONFIDENCE,
    )


def _full_per_s(samples: Samples, size: int) -> Floats:
    """Completions per second in the full buckets at a size."""
    return np.asarray(samples.throughput_per_s[samples.full() & (samples.limit == size)], dtype=np.float64)


def _judged(samples: Samples, bucket_s: float) -> list[int]:
    """The sizes of the window that were full for long enough."""
    sizes = np.unique(samples.limit[samples.full()]).astype(int).tolist()
    return [size for size in sizes if len(_full_per_s(samples, size)) * bucket_s >= JUDGED_S]


def _pays(before: Floats, after: Floats, factor: float) -> bool:
    """Whether a size larger by `factor` completes more. Worked, 8 -> 10: completions have to rise by 8 %."""
    noise = math.sqrt(before.var(ddof=1) / len(before) + after.var(ddof=1) / len(after))
    rise = float(after.mean() - before.mean())
    return rise > max(PAYS * (factor - 1) * float(before.mean()), STANDARD_ERRORS * noise)
