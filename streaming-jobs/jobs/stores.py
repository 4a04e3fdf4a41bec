"""The sinks: the ClickHouse tables of storage/clickhouse, and the graph of storage/neo4j.

Upserts by primary key. Every row carries a version that only grows, and an older row never replaces a newer one
there: so a sink may write a row twice, and rows in any order.
"""

from collections.abc import Mapping
from pathlib import Path

import kafka
from settings import Settings
from tables import COLUMNS
from upserts import definition

JOBS = Path(__file__).parent
# An insert is a part, some 13 synced files, however few its rows are. Decisions wait for windows each second, and read
# the other two each few seconds.
FLUSHES = {"windows": "windows-flush-ms", "service_sampling": "flush-ms", "pool_metrics": "flush-ms"}
NEO4J_BATCH_ROWS = 2_000  # a row takes about 16 kB of the server's transaction memory


def definitions(settings: Settings) -> list[str]:
    """DDL of the sink tables."""
    stored = [_table(name, _clickhouse(settings, name)) for name in COLUMNS]
    return [*stored, _calls(settings), _seen(settings), _operation_trees(settings)]


def _table(name: str, options: str) -> str:
    return f"""
        CREATE TEMPORARY TABLE {name} (
            {definition(name)}
        ) {options}"""


def _clickhouse(settings: Settings, table: str) -> str:
    flush_ms = settings[FLUSHES.get(table, "summary-flush-ms")]
    addresses = settings.addresses
    return f"""WITH (
            'connector' = 'clickhouse',
            'table' = '{table}',
            {_lines(addresses.clickhouse.options())},
            'sink.buffer-flush.interval' = '{flush_ms} ms',
            {_rejects(settings)}
        )"""


def _neo4j(settings: Settings, cypher: str, *more: str) -> str:
    addresses = settings.addresses
    options = [f"'cypher' = {_literal((JOBS / cypher).read_text())}", *more]
    return f"""WITH (
            'connector' = 'neo4j',
            {_lines(addresses.neo4j.options())},
            'newest-by' = 'window',
            'sink.buffer-flush.interval' = '{settings["flush-ms"]} ms',
            'sink.buffer-flush.max-rows' = '{NEO4J_BATCH_ROWS}',
            {_rejects(settings)},
            {", ".join(options)}
        )"""


def _rejects(settings: Settings) -> str:
    """Destinations of a row that the store refuses: the topic of dead letters, and the table that counts them."""
    addresses = settings.addresses
    options = {"rejects.kafka": addresses.kafka.brokers, "rejects.topic": addresses.kafka.topic(kafka.DEAD_LETTERS)}
    options |= {f"rejects.kafka.properties.{key}": value for key, value in addresses.kafka.properties.items()}
    options |= {f"rejects.clickhouse.{key}": value for key, value in addresses.clickhouse.options().items()}
    return _lines(options)


def _lines(options: Mapping[str, str]) -> str:
    return ",\n            ".join(f"'{key}' = '{value}'" for key, value in options.items())


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


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
    """The instances and operations that occurred, as nodes; "" for an unknown name. Once a window.

    Its writer also removes old elements from the whole graph.
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
    """The most frequent call tree of each root operation: `traces` of its `total` traces in the window have it."""
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
