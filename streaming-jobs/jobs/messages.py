"""The messages of the topic, each with whether it came before: what every job reads.

otlp_spans -> message_hash -> messages_once: by hash, `repeated` for those that came within the repeat window
"""

from settings import Settings

FUNCTIONS = {
    "message_hash": "dev.sluice.flink.MessageHash",
    "messages_once": "dev.sluice.flink.MessagesOnce",
}


def views(settings: Settings) -> dict[str, str]:
    """`messages`: message (NULL for a tombstone), record_time, partition, offset, repeated."""
    if settings["repeat-window-ms"] == 0:
        return {
            "messages": "SELECT message, record_time, `partition`, `offset`, FALSE AS repeated FROM otlp_spans",
        }
    return {
        "hashed_messages": """
        SELECT message_hash(message) AS message_hash, message, record_time, `partition`, `offset`
        FROM otlp_spans""",
        "messages": """
        SELECT message, rowtime AS record_time, `partition`, `offset`, repeated
        FROM messages_once(
            input => TABLE hashed_messages PARTITION BY message_hash,
            on_time => DESCRIPTOR(record_time),
            uid => 'messages-once'
        )""",
    }
