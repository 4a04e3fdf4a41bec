"""The Kafka tables: the topics that the jobs read, and the topic of dead letters."""

from collections.abc import Mapping

import kafka
import starts
from settings import Settings


def definitions(settings: Settings) -> list[str]:
    """DDL of the Kafka tables."""
    return [_otlp_spans(settings), _otlp_metrics(settings), _otlp_dead_letter(settings)]


# Properties of the writer of dead letters; the settings' properties go before them.
_LETTERS = {"max.request.size": "8388608", "compression.type": "lz4"}


def _connection(settings: Settings, topic: str, defaults: Mapping[str, str] = {}) -> str:
    """Options of a table over `topic`: its address and properties, which go before `defaults`."""
    address = settings.addresses.kafka
    lines = [f"'topic' = '{address.topic(topic)}',", f"'properties.bootstrap.servers' = '{address.brokers}',"]
    lines += [f"'properties.{key}' = '{value}'," for key, value in {**defaults, **address.properties}.items()]
    return "\n            ".join(lines)


def _otlp_spans(settings: Settings) -> str:
    """One row is one ExportTraceServiceRequest, undecoded.

    Record time is the broker's clock (LogAppendTime), which never runs backwards within a partition: so it needs no
    allowance for disorder, and reading the topic again sees the same times. Offsets live in checkpoints; the group's
    committed offsets show the lag, and `--start group-offsets` begins there. The group has the Flink job's name,
    because two jobs of one group would overwrite each other's offsets. A poll takes 100 records, not 500: the heap
    holds them together, and 500 of 33 KB would fill a small heap's young generation.

    The watermark is the least record time of all partitions: clock records keep it going. Without them, and only
    then, the watermark ignores a silent partition.
    """
    idle = (
        ""
        if settings["clock-records-ms"]
        else f"""
            'scan.watermark.idle-timeout' = '{settings["idle-ms"]} ms',"""
    )
    startup = "".join(f"\n            '{key}' = '{value}'," for key, value in starts.options(settings.start).items())
    return f"""
        CREATE TEMPORARY TABLE otlp_spans (
            message     BYTES,
            record_time TIMESTAMP_LTZ(3) NOT NULL METADATA FROM 'timestamp' VIRTUAL,
            `partition` INT NOT NULL METADATA VIRTUAL,
            `offset`    BIGINT NOT NULL METADATA VIRTUAL,
            WATERMARK FOR record_time AS record_time
        ) WITH (
            'connector' = 'kafka',
            {_connection(settings, kafka.SPANS)}
            'properties.group.id' = '{settings.flink_job}',{startup}
            'properties.max.poll.records' = '100',
            'scan.topic-partition-discovery.interval' = '1 min',{idle}
            'format' = 'raw'
        )"""


def _otlp_metrics(settings: Settings) -> str:
    """One row is one ExportMetricsServiceRequest, undecoded. No row waits for a watermark."""
    startup = "".join(f"\n            '{key}' = '{value}'," for key, value in starts.options(settings.start).items())
    return f"""
        CREATE TEMPORARY TABLE otlp_metrics (
            message     BYTES,
            record_time TIMESTAMP_LTZ(3) NOT NULL METADATA FROM 'timestamp' VIRTUAL,
            `partition` INT NOT NULL METADATA VIRTUAL,
            `offset`    BIGINT NOT NULL METADATA VIRTUAL
        ) WITH (
            'connector' = 'kafka',
            {_connection(settings, kafka.METRICS)}
            'properties.group.id' = '{settings.flink_job}',{startup}
            'scan.topic-partition-discovery.interval' = '1 min',
            'format' = 'raw'
        )"""


def _otlp_dead_letter(settings: Settings) -> str:
    """One JSON object for each refused span or message. At least once: a restart may repeat some."""
    return f"""
        CREATE TEMPORARY TABLE otlp_dead_letter (
            reason      STRING NOT NULL,
            detail      STRING,
            topic       STRING NOT NULL,
            `partition` INT NOT NULL,
            `offset`    BIGINT NOT NULL,
            service     STRING,
            trace_id    STRING,
            span_id     STRING,
            payload     BYTES
        ) WITH (
            'connector' = 'kafka',
            {_connection(settings, kafka.DEAD_LETTERS, _LETTERS)}
            'sink.delivery-guarantee' = 'at-least-once',
            'format' = 'json',
            'json.encode.ignore-null-fields' = 'true'
        )"""
