"""Where results go: the ClickHouse tables of storage/clickhouse, and the graph of storage/neo4j.

Upserts by primary key. Every row carries a version that only grows, and an older row never replaces a newer one
there: so rows may be written twice, and in any order.
"""

from collections.abc import Mapping
from pathlib import Path

import kafka
from settings import Settings
from tables import COLUMNS
from upserts import definition

JOBS = Path(__file__).parent
NEO4J_BATCH_ROWS = 2_000  # a row takes some 16 kB of the server's transaction memory


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
