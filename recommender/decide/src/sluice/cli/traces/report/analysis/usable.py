"""Leaves out the spans that no job of the pipeline counts, by reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sluice.cli.traces.report.reading.columns import Spans

#: Reason and remedy of each kind of span that counts nowhere.
MISSING_SERVICE = "missing_service"
BAD_ID = "bad_id"
CLOCK_OUT_OF_RANGE = "clock_out_of_range"
ENDS_BEFORE_START = "ends_before_start"


def usable(spans: Spans) -> tuple[Spans, dict[str, int]]:
    """The spans that count, and the number of the others by their first fault, in the order of the jobs' checks.

    A recording has no record times, so every time from 1970 to 2262 is in range, but not 0.
    """
    nameless = np.array([not facts.service for facts in spans.facts_of], dtype=np.bool_)
    empty = np.array([not any(trace_id) for trace_id in spans.trace_ids], dtype=np.bool_)
    faults = {
        MISSING_SERVICE: nameless[spans.facts],
        BAD_ID: (spans.span_id == 0) | empty[spans.trace],
        CLOCK_OUT_OF_RANGE: (spans.start_ns <= 0) | (spans.end_ns <= 0),
        ENDS_BEFORE_START: spans.end_ns < spans.start_ns,
    }
    good = np.ones(len(spans), dtype=np.bool_)
    counts = {}
    for reason, at_fault in faults.items():
        counts[reason] = int(np.count_nonzero(good & at_fault))
        good &= ~at_fault
    if good.all():
        return spans, counts
    columns = ("trace", "span_id", "parent_id", "start_ns", "end_ns", "facts", "linked")
    return replace(spans, **{name: getattr(spans, name)[good] for name in columns}), counts
