"""The spans, decoded once for all jobs: the views that the Java stage SpanStreams defines before the SQL is planned.

otlp_spans -> is it a repeat? -> decoded -> span_partial, span_sample, span_size, span_left, span_delay, span_sampling,
   |                                     |  span_counted, span_counted_window, span_rejected
   \\-> span_position                     \\-> traces, in the heap until their session ends
                                              -> span_edge, span_seen, span_tree, span_moved, span_nested, span_path,
                                                 span_on_path, span_trace_count, span_own, span_recounted

A job names the views that it reads in SPAN_TABLES (or span_tables(), where they depend on the settings), without
`span_`; the stage makes no others. SpanView.java has their columns.
"""

from typing import TYPE_CHECKING

import kafka

if TYPE_CHECKING:
    from pyflink.table import StreamTableEnvironment
    from settings import Settings

COUNTED = "span_counted"
COUNTED_WINDOWS = "span_counted_window"
COUNTED_TRACES = "counted_traces"
REJECTED = "span_rejected"
POSITIONS = "span_position"


def trace_views() -> dict[str, str]:
    """Outcomes of spans for jobs that read traces: those of the messages, and the changes by traces."""
    return {COUNTED_TRACES: f"SELECT * FROM {COUNTED} UNION ALL SELECT * FROM span_recounted"}


def define(environment: "StreamTableEnvironment", settings: "Settings") -> None:
    """Defines the views. The jar of the functions must be loaded, and the job's parameters be set.

    With clock records and a parallelism above 1, it asks Kafka for the number of the topic's partitions.
    """
    from pyflink.java_gateway import get_gateway

    jvm = get_gateway().jvm
    client = jvm.java.util.HashMap()
    to = settings.addresses.kafka
    for key, value in {**to.properties, "bootstrap.servers": to.brokers}.items():
        client.put(key, value)
    jvm.dev.sluice.flink.SpanStreams.define(environment._j_tenv, to.topic(kafka.SPANS), client)
