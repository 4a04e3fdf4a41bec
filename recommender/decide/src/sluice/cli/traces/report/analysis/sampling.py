"""Whether the recording is a sample: by what spans say, else by the trace ids that are missing.

A sampler by trace id (`traceidratio` of OpenTelemetry, `probabilistic` of Jaeger) keeps the ids whose random part, as a
number, lies below a bound; consistent probability sampling keeps those above one. SDKs take different bits. Of n random
ids the largest lies above (1 - p) with a probability of 1 - (1 - p)^n: of 200 ids below 0.9, one set in 10^9 is chance.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sluice.cli.traces.report.analysis.findings import QualityFinding
from sluice.cli.traces.report.analysis.traces import Traces

FEWEST_IDS = 200
#: A bound beyond it may be chance.
HIGHEST_BOUND = 0.9
_REMEDY = (
    "take spans before they are sampled (OTEL_TRACES_SAMPLER=always_on, or a collector in front of the sampler): a "
    "sample does not show concurrency. Do not read sizes from this recording"
)


def sampling_of(traces: Traces) -> Iterator[QualityFinding]:
    """One finding at most."""
    stated = np.array([facts.probability for facts in traces.spans.facts_of])[traces.spans.facts]
    if number := int(np.count_nonzero((stated > 0) & (stated < 1))):
        shares = ", ".join(f"{share:.3g}" for share in np.unique(stated[(stated > 0) & (stated < 1)])[:5])
        yield QualityFinding(
            "SAMPLED", f"{number:,} spans say that their traces were sampled with probability {shares}", _REMEDY, number
        )
        return
    share = share_of_ids([traces.spans.trace_ids[number] for number in np.unique(traces.spans.trace)])
    if share is not None:
        text = f"the ids of the traces lie in {share:.0%} of their range: the others were sampled away"
        yield QualityFinding("SAMPLED", text, _REMEDY)


def share_of_ids(trace_ids: list[bytes]) -> float | None:
    """The share of the range of ids that a sampler by trace id kept. None where the ids fill the range, are fewer than
    200, or are not spread evenly, as random ones are."""
    if len(trace_ids) < FEWEST_IDS:
        return None
    low = np.array([int.from_bytes(trace_id[8:]) for trace_id in trace_ids], dtype=np.uint64)
    shares = [
        bound * (len(part) + 1) / len(part)
        for part in _parts(low)
        for bound in (float(part.max()), 1 - float(part.min()))
        # Random ids below a bound fill what is below it.
        if _is_even(part, bound)
    ]
    # Other bits than those that were compared show a weaker bound, or none.
    share = min(shares, default=1.0)
    return share if share < HIGHEST_BOUND else None


def _parts(low: NDArray[np.uint64]) -> Iterator[NDArray[np.float64]]:
    """What samplers compare, as shares of its range: 64 bits (Python, Go), the lower 63 (Java, Jaeger), the lower 56
    (consistent)."""
    for bits in (64, 63, 56):
        yield (low & np.uint64(2**bits - 1)).astype(np.float64) / 2.0**bits


def _is_even(part: NDArray[np.float64], bound: float) -> bool:
    """Whether each quarter of the range up to the bound, or down to it, has at least a tenth of the ids."""
    within = part if part.max() <= bound else 1 - part
    counts, _ = np.histogram(within, bins=4, range=(0.0, bound))
    return bool(counts.min() * 10 >= len(part))
