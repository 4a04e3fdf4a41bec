"""Trace assembly, which several jobs share: in one Flink job it runs once.

messages -> trace_fragments: one message becomes a row per trace -> closed_traces: traces, closed when quiet
"""

import messages
from settings import Settings

DECODED = "decoded_traces"
COUNTED = "counted_traces"
FUNCTIONS = {
    **messages.FUNCTIONS,
    "trace_fragments": "dev.sluice.flink.TraceFragments",
    "closed_traces": "dev.sluice.flink.ClosedTraces",
}


def views(settings: Settings) -> dict[str, str]:
    """Each row of decoded_traces and of traces has one of its columns; the others are NULL."""
    return {
        **messages.views(settings),
        "decoded_traces": """
        SELECT d.fragment, d.counted, d.rejected, m.record_time, m.`partition`, m.`offset`
        FROM messages AS m,
             LATERAL TABLE(trace_fragments(m.message, m.record_time, m.repeated)) AS d (fragment, counted, rejected)""",
        "fragments": """
        SELECT d.fragment.trace_id AS trace_id, d.fragment.spans AS spans, d.fragment.span_count AS span_count,
               d.record_time AS record_time
        FROM decoded_traces AS d WHERE d.fragment IS NOT NULL""",
        "traces": """
        SELECT * FROM closed_traces(
            input => TABLE fragments PARTITION BY trace_id,
            on_time => DESCRIPTOR(record_time),
            uid => 'closed-traces'
        )""",
        "counted_traces": """
        SELECT counted FROM decoded_traces
        UNION ALL
        SELECT counted FROM traces""",
    }
