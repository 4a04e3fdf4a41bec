"""SCT, the scatter-concurrency-throughput model (ConScale III): the rational range of concurrency by throughput.

Throughput rises with concurrency until the bottleneck is busy (ascending stage), stays (stable stage), and falls as
threads hinder each other (descending stage). [Q_lower, Q_upper] is the stable stage. Q_lower is recommended, because
among sizes of equal throughput the smallest has the shortest response times (III-B).

The stages are separated as in statistical intervention analysis: a level belongs to the stable stage when its mean
throughput is less than 5 % and one standard error of the difference below the best of a unimodal fit. The model is
meant for buckets of 50 ms (III-C), and requires as many as `need_at(50)`: 600 of them, 20 a level. A full pool does not
censor throughput, so its buckets count. It knows no deadline: where response times matter, use SCG.
"""

from __future__ import annotations

from dataclasses import replace

from sluice.model.reason import Reason
from sluice.model.states import State
from sluice.pools.estimate.confidence import confidence
from sluice.pools.estimate.evidence import NEED, Need
from sluice.pools.estimate.model import Estimate, whole_size
from sluice.pools.estimate.reading import read
from sluice.pools.estimate.samples import Samples

STABLE = 0.05


class Sct:
    """ConScale's estimator; satisfies `Estimator`."""

    name = "sct"

    def __init__(self, need: Need = NEED) -> None:
        self._need = need

    def estimate(self, samples: Samples | None) -> Estimate:
        by_throughput = samples and replace(samples, goodput_per_s=samples.throughput_per_s, caller_judged=True)
        reading = read(by_throughput, self._need, STABLE, censored=False)
        if isinstance(reading, Estimate):
            return reading
        lower, upper = reading.top.lower, reading.top.upper
        range_ = f"throughput is at its highest from {lower:.1f} to {upper:.1f} in flight"
        return Estimate(
            State.PROVIDED,
            (reading.shape(), Reason("RATIONAL_RANGE", range_)),
            target=whole_size(lower),
            lower_bound=whole_size(lower),
            upper_bound=whole_size(upper),
            confidence=confidence(
                len(reading.samples),
                lower,
                upper,
                float(reading.samples.concurrency.max()),
                methods_agree=True,
                by_caller=True,
            ),
            curve=reading.curve,
            knee=lower,
            pool_limited=reading.limited,
        )
