"""Whether the recording is a sample: by what spans say, else by the trace ids that are missing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sluice.cli.traces.report.analysis.findings import QualityFinding
from sluice.cli.traces.report.analysis.traces import Traces
from sluice.pools.sampling.trace_ids import TraceIds, kept_share

_REMEDY = (
    "take spans before they are sampled (docs/sampling.md): a sample does not show concurrency. Do not read sizes from "
    "this recording"
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
    """The share of the range of ids that a sampler by trace id kept; None where the ids show none."""
    return kept_share(TraceIds.of(trace_ids)) if trace_ids else None
