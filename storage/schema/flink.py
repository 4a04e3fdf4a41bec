"""Flink's description of the tables: columns of its sinks, and of Java's rows that a sink sums to table rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from migrate.errors import MigrateError
from schema.tables import LENGTHS, Column, Table, tables

HISTOGRAM = "MAP<SMALLINT, INT>"
_TYPES = {
    "Bool": "BOOLEAN",
    **dict.fromkeys(("UInt8", "UInt16", "Int32"), "INT"),
    **dict.fromkeys(("UInt32", "UInt64", "Int64"), "BIGINT"),
    "UInt128": "DECIMAL(38, 0)",
    **dict.fromkeys(("String", "LowCardinality(String)", "Enum8"), "STRING"),
    **dict.fromkeys(("DateTime('UTC')", "DateTime64(3, 'UTC')"), "TIMESTAMP_LTZ(3)"),
    "Map(Int16, UInt32)": HISTOGRAM,
}


@dataclass(frozen=True)
class Row:
    """A row of Java: `only` these columns of a table, by default all except lengths, version and `without`.

    values: the columns of an aggregate, without the key. names: other names in the row, by column; a name for the
    version includes it. seconds: `window` is in seconds of the epoch.
    """

    table: str
    only: str = ""
    without: str = ""
    values: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    seconds: bool = False

    def columns(self, table: Table) -> list[str]:
        """Name and type of each column. Histograms are encoded before the sum."""
        left_out = {
            *LENGTHS,
            *self.without.split(),
            *({"version"} - {*self.names}),
            *(table.key if self.values else ()),
        }
        wanted = self.only.split() or [column.name for column in table.columns if column.name not in left_out]
        by_name = {column.name: column for column in table.columns}
        if unknown := [name for name in wanted if name not in by_name]:
            raise MigrateError(f"write a row of {table.name}: it has no column {', '.join(unknown)}")
        return [self._column(table, by_name[name]) for name in wanted]

    def _column(self, table: Table, column: Column) -> str:
        kind = sql_type(table, column)
        if kind == HISTOGRAM and not self.values:
            kind = "BYTES NOT NULL"
        if column.name == "window":
            return f"window_start {'BIGINT NOT NULL' if self.seconds else kind}"
        return f"{self.names.get(column.name, column.name)} {kind}"


_SUMMED = {"version": "contributions"}
#: Rows by their names in Columns.java.
ROWS = {
    "PARTIAL": Row("windows", names=_SUMMED),
    "SAMPLE": Row("container_latency"),
    "SIZE": Row("data_sizes"),
    "LEFT": Row("spans_left_out"),
    "DELAY": Row("instance_clocks"),
    "SAMPLING": Row("service_sampling"),
    "COUNTED": Row("ingest_counts", without="job", names=_SUMMED),
    "GAP": Row("offset_gaps", "first_missing first_read received"),
    "EDGE": Row("call_edges", names=_SUMMED, seconds=True),
    "CONTAINER_CALL": Row("container_calls", seconds=True),
    "TREE": Row("call_trees", names={"root_service": "service", "root_operation": "operation"}, seconds=True),
    "OWN": Row("container_own_time", seconds=True),
    "PATH_KEY": Row("critical_paths", "root_service root_operation complete window", seconds=True),
    "PATH_SUMS": Row("critical_paths", values=True),
    "SERVICE_SUMS": Row("path_services", values=True),
    "TRACE_COUNT": Row("trace_counts"),
    "RESOURCE": Row("resource_metrics"),
    "POOL": Row("pool_metrics"),
}


def written_tables() -> dict[str, Table]:
    """The tables that jobs write, by name. Raises MigrateError."""
    return tables({row.table for row in ROWS.values()})


def sql_type(table: Table, column: Column) -> str:
    """Flink's type of a column. Raises MigrateError for a type that no job writes."""
    kind = _TYPES.get(column.type.partition("(")[0] if column.type.startswith("Enum8(") else column.type)
    if kind is None:
        legal = ", ".join(_TYPES)
        raise MigrateError(f"read table {table.name}: {column.name} is {column.type}; the jobs write {legal}")
    return kind if kind == HISTOGRAM else f"{kind} NOT NULL"


def sink(table: Table) -> dict[str, str]:
    """Type of each column that the jobs write, in the order of the file."""
    return {column.name: sql_type(table, column) for column in table.columns}
