"""The messages of the topic, each with whether it came before: what every job reads.

otlp_spans -> message_hash -> messages_once: by hash, `repeated` for those that came within the repeat window
ticker     -> no rows, but watermarks while the topic is silent
"""

from settings import Settings

FUNCTIONS = {
    "message_hash": "dev.sluice.flink.MessageHash",
    "messages_once": "dev.sluice.flink.MessagesOnce",
    "messages_in_time": "dev.sluice.flink.MessagesInTime",
}


def is_timed(settings: Settings) -> bool:
    """Whether something waits for record time: then there is a view `timed_messages`, as they are read."""
    return bool(settings["repeat-window-ms"] or settings.traced)


def views(settings: Settings) -> dict[str, str]:
    """`messages`: message (NULL for a tombstone), record_time, partition, offset, repeated.

    Both functions ask for watermarks. Were there none that does below this view, Flink would mark mini-batches by the
    machine's clock from the source on, and traces would be closed by it, however far behind the topic is read. Where
    nothing waits for record time, neither repeats nor traces, there is no need of either function, nor of the ticker:
    messages then stay in the task that read them, and are not copied.
    """
    if not is_timed(settings):
        return {"messages": "SELECT message, record_time, `partition`, `offset`, FALSE AS repeated FROM otlp_spans"}
    if settings["repeat-window-ms"]:
        message_hash = "message_hash(message)"
        flagged = "messages_once(input => TABLE timed_messages PARTITION BY message_hash,"
    else:
        message_hash = "CAST(NULL AS BYTES)"
        flagged = "messages_in_time(input => TABLE timed_messages,"
    return {
        # The ticker's rows are dropped, its watermarks stay. The planner must not see that no tick is negative.
        "timed_messages": f"""
        SELECT {message_hash} AS message_hash, message, record_time, `partition`, `offset`
        FROM otlp_spans
        UNION ALL
        SELECT CAST(NULL AS BYTES), CAST(NULL AS BYTES), tick_time, 0, CAST(0 AS BIGINT)
        FROM ticker WHERE tick < 0""",
        "messages": f"""
        SELECT message, rowtime AS record_time, `partition`, `offset`, repeated
        FROM {flagged} on_time => DESCRIPTOR(record_time), uid => 'messages')""",
    }
