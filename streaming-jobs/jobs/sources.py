"""Where data comes from, and where it goes when it cannot be used: the Kafka tables."""

from datetime import UTC, datetime

import starts
from settings import SECOND_MS, Settings


def definitions(settings: Settings) -> list[str]:
    """DDL of the Kafka tables, and of the ticker."""
    return [_otlp_spans(settings), _otlp_metrics(settings), _ticker(settings), _otlp_dead_letter(settings)]


def _otlp_spans(settings: Settings) -> str:
    """One row is one ExportTraceServiceRequest, undecoded.

    Record time is the broker's clock (LogAppendTime), which never runs backwards within a partition: so it needs no
    allowance for disorder, and reading the topic again sees the same times. Offsets live in checkpoints; the group's
    committed offsets show the lag, and are where `--start group-offsets` begins. The group has the Flink job's name:
    two that shared one would overwrite each other's offsets. A poll takes 100 records, not 500:
    they are alive together, and of 33 KB each would fill a small heap's young generation.
    """
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
            'topic' = 'otlp_spans',
            'properties.bootstrap.servers' = '{settings.addresses.kafka}',
            'properties.group.id' = '{settings.flink_job}',{startup}
            'properties.max.poll.records' = '100',
            'scan.topic-partition-discovery.interval' = '1 min',
            'scan.watermark.idle-timeout' = '{settings["idle-ms"]} ms',
            'format' = 'raw'
        )"""


def _otlp_metrics(settings: Settings) -> str:
    """One row is one ExportMetricsServiceRequest, undecoded. Nothing of it waits for a watermark."""
    startup = "".join(f"\n            '{key}' = '{value}'," for key, value in starts.options(settings.start).items())
    return f"""
        CREATE TEMPORARY TABLE otlp_metrics (
            message     BYTES,
            record_time TIMESTAMP_LTZ(3) NOT NULL METADATA FROM 'timestamp' VIRTUAL,
            `partition` INT NOT NULL METADATA VIRTUAL,
            `offset`    BIGINT NOT NULL METADATA VIRTUAL
        ) WITH (
            'connector' = 'kafka',
            'topic' = 'otlp_metrics',
            'properties.bootstrap.servers' = '{settings.addresses.kafka}',
            'properties.group.id' = '{settings.flink_job}',{startup}
            'scan.topic-partition-discovery.interval' = '1 min',
            'format' = 'raw'
        )"""


def _ticker(settings: Settings) -> str:
    """One row a mini-batch whose time is now: the clock of the job.

    A watermark only moves with records. When the topic falls silent its partitions are declared idle, and without
    another input the last traces would never be closed. And mini-batches end with each move of the watermark, however
    far behind it is: behind the newest records by the idle time, where it never waits for a partition that is only
    slow, it moves with every tick, and sums are written as often.
    """
    idle = datetime.fromtimestamp(settings["idle-ms"] / SECOND_MS, UTC).strftime("%H:%M:%S.%f")[:-3]
    return f"""
        CREATE TEMPORARY TABLE ticker (
            tick      INT,
            tick_time TIMESTAMP_LTZ(3),
            WATERMARK FOR tick_time AS tick_time - INTERVAL '0 {idle}' DAY TO SECOND(3)
        ) WITH (
            'connector' = 'datagen',
            'scan.parallelism' = '1',
            'rows-per-second' = '{max(1, SECOND_MS // settings["mini-batch-ms"])}',
            'fields.tick.min' = '0',
            'fields.tick.max' = '0',
            'fields.tick_time.max-past' = '0'
        )"""


def _otlp_dead_letter(settings: Settings) -> str:
    """One JSON object for each span or message that could not be used. At least once: a restart may repeat some."""
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
            'topic' = 'otlp_dead_letter',
            'properties.bootstrap.servers' = '{settings.addresses.kafka}',
            'properties.max.request.size' = '8388608',
            'properties.compression.type' = 'lz4',
            'sink.delivery-guarantee' = 'at-least-once',
            'format' = 'json',
            'json.encode.ignore-null-fields' = 'true'
        )"""
