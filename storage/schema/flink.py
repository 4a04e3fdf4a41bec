"""What Flink has to know of the tables: columns of its sinks, and of the rows of Java that are summed to their rows."""

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
    """A row of Java: `only` these columns of a table, by default all but lengths, version and those `without`.

    values: what an aggregate gives, without the key. names: of those that have another one in the row; with a name the
    version is in it. seconds: `window` is in seconds of the epoch.
    """

    table: str
    only: str = ""
    without: str = ""
    values: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    seconds: bool = False

    def columns(self, of: Table) -> list[str]:
        """name and type of each. Before they are summed, histograms are encoded."""
        left_out = {*LENGTHS, *self.without.split(), *({"version"} - {*self.names}), *(of.key if self.values else ())}
        wanted = self.only.split() or [each.name for each in of.columns if each.name not in left_out]
        by_name = {each.name: each for each in of.columns}
        if unknown := [name for name in wanted if name not in by_name]:
            raise MigrateError(f"write a row of {of.name}: it has no column {', '.join(unknown)}")
        return [self._column(of, by_name[name]) for name in wanted]

    def _column(self, of: Table, column: Column) -> str:
        kind = sql_type(of, column)
        if kind == HISTOGRAM and not self.values:
            kind = "BYTES NOT NULL"
        if column.name == "window":
            return f"window_start {'BIGINT NOT NULL' if self.seconds else kind}"
        return f"{self.names.get(column.name, column.name)} {kind}"


_SUMMED = {"version": "contributions"}
#: By the name that each has in Columns.java.
ROWS = {
    "PARTIAL": Row("windows", names=_SUMMED),
    "SAMPLE": Row("container_latency"),
    "SIZE": Row("data_sizes"),
    "LEFT": Row("spans_left_out"),
    "DELAY": Row("instance_clocks"),
    "COUNTED": Row("ingest_counts", without="job", names=_SUMMED),
    "GAP": Row("offset_gaps", "first_missing first_read received"),
    "EDGE": Row("call_edges", names=_SUMMED, seconds=True),
    "TREE": Row("call_trees", names={"root_service": "service", "root_operation": "operation"}, seconds=True),
    "OWN": Row("container_own_time", seconds=True),
    "PATH_KEY": Row("critical_paths", "root_service root_operation complete window", seconds=True),
    "PATH_SUMS": Row("critical_paths", values=True),
    "SERVICE_SUMS": Row("path_services", values=True),
    "TRACE_COUNT": Row("trace_counts"),
    "RESOURCE": Row("resource_metrics"),
}


def written() -> dict[str, Table]:
    """The tables that jobs write, by name. Raises MigrateError."""
    return tables({row.table for row in ROWS.values()})


def sql_type(table: Table, column: Column) -> str:
    """Flink's type of what a job writes into the column. Raises MigrateError for one that no job writes."""
    kind = _TYPES.get(column.type.partition("(")[0] if column.type.startswith("Enum8(") else column.type)
    if kind is None:
        legal = ", ".join(_TYPES)
        raise MigrateError(f"read table {table.name}: {column.name} is {column.type}; the jobs write {legal}")
    return kind if kind == HISTOGRAM else f"{kind} NOT NULL"


def sink(table: Table) -> dict[str, str]:
    """Type of each column that the jobs write, in the order of the file."""
    return {column.name: sql_type(table, column) for column in table.columns}
