"""Where results go: the ClickHouse tables of storage/clickhouse, and the graph of storage/neo4j.

Upserts by primary key. Every row carries a version that only grows, and an older row never replaces a newer one
there: so rows may be written twice, and in any order.
"""

from collections.abc import Mapping
from pathlib import Path

import kafka
from settings import Settings

JOBS = Path(__file__).parent
NEO4J_BATCH_ROWS = 2_000  # a row takes some 16 kB of the server's transaction memory


def definitions(settings: Settings) -> list[str]:
    """DDL of the sink tables."""
    return [
        _windows(settings),
        _call_edges(settings),
        _call_trees(settings),
        _ingest_counts(settings),
        _offset_gaps(settings),
        _calls(settings),
        _seen(settings),
        _operation_trees(settings),
        _critical_paths(settings),
        _path_services(settings),
        _trace_counts(settings),
        _of_containers(settings, "container_latency"),
        _of_containers(settings, "container_own_time"),
        _resource_metrics(settings),
    ]


def _clickhouse(settings: Settings, table: str) -> str:
    to = settings.addresses
    return f"""WITH (
            'connector' = 'clickhouse',
            'table' = '{table}',
            {_lines(to.clickhouse.options())},
            'sink.buffer-flush.interval' = '{settings["flush-ms"]} ms',
            {_rejects(settings)}
        )"""


def _neo4j(settings: Settings, cypher: str, *more: str) -> str:
    to = settings.addresses
    options = [f"'cypher' = {_literal((JOBS / cypher).read_text())}", *more]
    return f"""WITH (
            'connector' = 'neo4j',
            {_lines(to.neo4j.options())},
            'newest-by' = 'window',
            'sink.buffer-flush.interval' = '{settings["flush-ms"]} ms',
            'sink.buffer-flush.max-rows' = '{NEO4J_BATCH_ROWS}',
            {_rejects(settings)},
            {", ".join(options)}
        )"""


def _rejects(settings: Settings) -> str:
    """Where a row goes that the store refuses: the topic of dead letters, and the table that counts them."""
    to = settings.addresses
    options = {"rejects.kafka": to.kafka.brokers, "rejects.topic": to.kafka.topic(kafka.DEAD_LETTERS)}
    options |= {f"rejects.kafka.properties.{key}": value for key, value in to.kafka.properties.items()}
    options |= {f"rejects.clickhouse.{key}": value for key, value in to.clickhouse.options().items()}
    return _lines(options)


def _lines(options: Mapping[str, str]) -> str:
    return ",\n            ".join(f"'{key}' = '{value}'" for key, value in options.items())


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _windows(settings: Settings) -> str:
    return f"""
        CREATE TEMPORARY TABLE windows (
            side        STRING NOT NULL,
            service     STRING NOT NULL,
            peer        STRING NOT NULL,
            instance    STRING NOT NULL,
            bucket      TIMESTAMP_LTZ(3) NOT NULL,
            bucket_ms   INT NOT NULL,
            busy_ns     BIGINT NOT NULL,
            completions BIGINT NOT NULL,
            errors      BIGINT NOT NULL,
            latency     MAP<SMALLINT, INT>,
            version     BIGINT NOT NULL,
            PRIMARY KEY (side, service, peer, instance, bucket) NOT ENFORCED
        ) {_clickhouse(settings, "windows")}"""


def _call_edges(settings: Settings) -> str:
    return f"""
        CREATE TEMPORARY TABLE call_edges (
            caller   STRING NOT NULL,
            callee   STRING NOT NULL,
            `window` TIMESTAMP_LTZ(3) NOT NULL,
            window_s INT NOT NULL,
            calls    BIGINT NOT NULL,
            errors   BIGINT NOT NULL,
            latency  MAP<SMALLINT, INT>,
            version  BIGINT NOT NULL,
            PRIMARY KEY (caller, callee, `window`) NOT ENFORCED
        ) {_clickhouse(settings, "call_edges")}"""


def _call_trees(settings: Settings) -> str:
    return f"""
        CREATE TEMPORARY TABLE call_trees (
            root_service   STRING NOT NULL,
            root_operation STRING NOT NULL,
            `window`       TIMESTAMP_LTZ(3) NOT NULL,
            window_s       INT NOT NULL,
            tree           STRING NOT NULL,
            traces         BIGINT NOT NULL,
            version        BIGINT NOT NULL,
            PRIMARY KEY (root_service, root_operation, `window`, tree) NOT ENFORCED
        ) {_clickhouse(settings, "call_trees")}"""


def _critical_paths(settings: Settings) -> str:
    return f"""
        CREATE TEMPORARY TABLE critical_paths (
            root_service     STRING NOT NULL,
            root_operation   STRING NOT NULL,
            complete         BOOLEAN NOT NULL,
            signature        STRING NOT NULL,
            window_s         INT NOT NULL,
            `window`         TIMESTAMP_LTZ(3) NOT NULL,
            traces           BIGINT NOT NULL,
            sum_ns           BIGINT NOT NULL,
            sum_ns2          DECIMAL(38, 0) NOT NULL,
            latency          MAP<SMALLINT, INT>,
            slowest_ns       BIGINT NOT NULL,
            slowest_trace_id STRING NOT NULL,
            median_trace_id  STRING NOT NULL,
            version          BIGINT NOT NULL,
            PRIMARY KEY (root_service, root_operation, complete, signature, `window`) NOT ENFORCED
        ) {_clickhouse(settings, "critical_paths")}"""


def _path_services(settings: Settings) -> str:
    return f"""
        CREATE TEMPORARY TABLE path_services (
            root_service          STRING NOT NULL,
            root_operation        STRING NOT NULL,
            complete              BOOLEAN NOT NULL,
            service               STRING NOT NULL,
            window_s              INT NOT NULL,
            `window`              TIMESTAMP_LTZ(3) NOT NULL,
            traces                BIGINT NOT NULL,
            self_sum              BIGINT NOT NULL,
            self_sum2             DECIMAL(38, 0) NOT NULL,
            e2e_sum               BIGINT NOT NULL,
            e2e_sum2              DECIMAL(38, 0) NOT NULL,
            self_x_e2e            DECIMAL(38, 0) NOT NULL,
            upstream_sum          BIGINT NOT NULL,
            upstream_sum2         DECIMAL(38, 0) NOT NULL,
            call_upstream_sum     BIGINT NOT NULL,
            wait_sum              BIGINT NOT NULL,
            blame_sum             BIGINT NOT NULL,
            blame_sum2            DECIMAL(38, 0) NOT NULL,
            blame_x_e2e           DECIMAL(38, 0) NOT NULL,
            self_latency          MAP<SMALLINT, INT>,
            upstream_latency      MAP<SMALLINT, INT>,
            call_upstream_latency MAP<SMALLINT, INT>,
            blame_latency         MAP<SMALLINT, INT>,
            version               BIGINT NOT NULL,
            PRIMARY KEY (root_service, root_operation, complete, service, `window`) NOT ENFORCED
        ) {_clickhouse(settings, "path_services")}"""


def _trace_counts(settings: Settings) -> str:
    return f"""
        CREATE TEMPORARY TABLE trace_counts (
            cause    STRING NOT NULL,
            service  STRING NOT NULL,
            received TIMESTAMP_LTZ(3) NOT NULL,
            traces   BIGINT NOT NULL,
            spans    BIGINT NOT NULL,
            version  BIGINT NOT NULL,
            PRIMARY KEY (cause, service, received) NOT ENFORCED
        ) {_clickhouse(settings, "trace_counts")}"""


def _ingest_counts(settings: Settings) -> str:
    return f"""
        CREATE TEMPORARY TABLE ingest_counts (
            job         STRING NOT NULL,
            outcome     STRING NOT NULL,
            service     STRING NOT NULL,
            received    TIMESTAMP_LTZ(3) NOT NULL,
            messages    BIGINT NOT NULL,
            spans       BIGINT NOT NULL,
            emit_lag_ms BIGINT NOT NULL,
            version     BIGINT NOT NULL,
            PRIMARY KEY (job, outcome, service, received) NOT ENFORCED
        ) {_clickhouse(settings, "ingest_counts")}"""


def _offset_gaps(settings: Settings) -> str:
    return f"""
        CREATE TEMPORARY TABLE offset_gaps (
            flink_job     STRING NOT NULL,
            topic         STRING NOT NULL,
            `partition`   INT NOT NULL,
            first_missing BIGINT NOT NULL,
            first_read    BIGINT NOT NULL,
            received      TIMESTAMP_LTZ(3) NOT NULL,
            version       BIGINT NOT NULL,
            PRIMARY KEY (flink_job, topic, `partition`, first_missing) NOT ENFORCED
        ) {_clickhouse(settings, "offset_gaps")}"""


def _of_containers(settings: Settings, table: str) -> str:
    return f"""
        CREATE TEMPORARY TABLE {table} (
            service  STRING NOT NULL,
            instance STRING NOT NULL,
            host     STRING NOT NULL,
            `window` TIMESTAMP_LTZ(3) NOT NULL,
            window_s INT NOT NULL,
            requests BIGINT NOT NULL,
            errors   BIGINT NOT NULL,
            ln_sum   BIGINT NOT NULL,
            ln_sum2  BIGINT NOT NULL,
            latency  MAP<SMALLINT, INT>,
            version  BIGINT NOT NULL,
            PRIMARY KEY (service, instance, host, `window`) NOT ENFORCED
        ) {_clickhouse(settings, table)}"""


def _resource_metrics(settings: Settings) -> str:
    return f"""
        CREATE TEMPORARY TABLE resource_metrics (
            host        STRING NOT NULL,
            instance    STRING NOT NULL,
            role        STRING NOT NULL,
            metric_rank INT NOT NULL,
            series      STRING NOT NULL,
            kind        STRING NOT NULL,
            start_ns    BIGINT NOT NULL,
            `window`    TIMESTAMP_LTZ(3) NOT NULL,
            window_s    INT NOT NULL,
            points      BIGINT NOT NULL,
            value_sum   BIGINT NOT NULL,
            value_min   BIGINT NOT NULL,
            value_max   BIGINT NOT NULL,
            first_ns    BIGINT NOT NULL,
            last_ns     BIGINT NOT NULL,
            version     BIGINT NOT NULL,
            PRIMARY KEY (host, instance, role, metric_rank, series, kind, start_ns, `window`) NOT ENFORCED
        ) {_clickhouse(settings, "resource_metrics")}"""


def _calls(settings: Settings) -> str:
    """The newest window of each edge, as the relationship CALLS. `window` is in seconds of the epoch."""
    return f"""
        CREATE TEMPORARY TABLE calls (
            caller      STRING NOT NULL,
            callee      STRING NOT NULL,
            `window`    BIGINT NOT NULL,
            window_s    INT NOT NULL,
            calls       BIGINT NOT NULL,
            errors      BIGINT NOT NULL,
            rate_per_s  DOUBLE NOT NULL,
            error_ratio DOUBLE NOT NULL,
            p50_ms      DOUBLE,
            p95_ms      DOUBLE,
            p99_ms      DOUBLE,
            PRIMARY KEY (caller, callee, `window`) NOT ENFORCED
        ) {_neo4j(settings, "calls.cypher")}"""


def _seen(settings: Settings) -> str:
    """Which instances and operations were there, as nodes; "" where a name is not known. Once a window.

    Its writer removes what is old from the whole graph, too.
    """
    ageing = (
        f"'ageing.cypher' = {_literal((JOBS / 'age.cypher').read_text())}",
        f"'ageing.max-age' = '{settings['graph-max-age-ms']} ms'",
        f"'ageing.interval' = '{settings['graph-age-every-ms']} ms'",
    )
    return f"""
        CREATE TEMPORARY TABLE seen (
            service   STRING NOT NULL,
            instance  STRING NOT NULL,
            host      STRING NOT NULL,
            operation STRING NOT NULL,
            `window`  BIGINT NOT NULL,
            PRIMARY KEY (service, instance, host, operation, `window`) NOT ENFORCED
        ) {_neo4j(settings, "seen.cypher", *ageing)}"""


def _operation_trees(settings: Settings) -> str:
    """The most frequent call tree of each root operation: that of `traces` of its `total` traces in the window."""
    return f"""
        CREATE TEMPORARY TABLE operation_trees (
            service   STRING NOT NULL,
            operation STRING NOT NULL,
            `window`  BIGINT NOT NULL,
            tree      STRING NOT NULL,
            traces    BIGINT NOT NULL,
            total     BIGINT NOT NULL,
            `share`   DOUBLE NOT NULL,
            PRIMARY KEY (service, operation, `window`) NOT ENFORCED
        ) {_neo4j(settings, "trees.cypher")}"""
