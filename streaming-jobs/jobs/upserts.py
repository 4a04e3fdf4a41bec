"""SQL of the tables of ClickHouse, by the names of their columns; `tables` has the columns in their order."""

from tables import COLUMNS, KEYS

# Names of columns that are words of Flink's SQL.
_RESERVED = ("partition", "window")
_HISTOGRAM = "MAP"


def insert_sums(table: str, source: str, value: str = "SUM({})", *, seconds: bool = False, **expressions: str) -> str:
    """INSERT of the sums of `source` by the table's key.

    expressions: by column; for a column of the key, a column of the source or a literal. A column of the key without
    one is the source's column of that name. `window` is then the source's window_start, in seconds of the epoch if
    `seconds`. A histogram without one is merged. Any other column is `value`, with its name for {}.
    Raises ValueError if the table lacks a column.
    """
    grouped = [name for name in _key(table, expressions).values() if not name.startswith("'")]
    rows = _select(table, value, "merge_latency({})", expressions, seconds=seconds)
    return f"""
        INSERT INTO {table}
        SELECT {rows}
        FROM {source}
        GROUP BY {", ".join(grouped)}"""


def insert(table: str, source: str, value: str = "{}", *, seconds: bool = False, **expressions: str) -> str:
    """INSERT of the rows of `source`, one for each key: as insert_sums, but histograms are as other columns."""
    return f"""
        INSERT INTO {table}
        {select(table, source, value, seconds=seconds, **expressions)}"""


def select(table: str, source: str, value: str = "{}", *, seconds: bool = False, **expressions: str) -> str:
    """The SELECT of `insert`."""
    return f"""SELECT {_select(table, value, value, expressions, seconds=seconds)}
        FROM {source}"""


def keys(table: str) -> str:
    """The columns of the key in the jobs' rows, with window_start."""
    return ", ".join(_key(table, {}).values())


def definition(table: str) -> str:
    """Columns and key for CREATE TABLE."""
    columns = [f"{_quoted(name)} {kind}" for name, kind in COLUMNS[table].items()]
    key = ", ".join(map(_quoted, KEYS[table].split()))
    return ",\n            ".join([*columns, f"PRIMARY KEY ({key}) NOT ENFORCED"])


def _key(table: str, expressions: dict[str, str]) -> dict[str, str]:
    """The source's expression of each column of the key."""
    source_columns = {name: "window_start" if name == "window" else _quoted(name) for name in KEYS[table].split()}
    return {name: expressions.get(name, source) for name, source in source_columns.items()}


def _select(table: str, value: str, histogram: str, expressions: dict[str, str], *, seconds: bool) -> str:
    if unknown := [name for name in expressions if name not in COLUMNS[table]]:
        legal = ", ".join(COLUMNS[table])
        raise ValueError(f"insert into {table}: no column {', '.join(unknown)}; expected {legal}")
    defaults = {
        name: (histogram if kind.startswith(_HISTOGRAM) else value).format(_quoted(name))
        for name, kind in COLUMNS[table].items()
    }
    key = _key(table, expressions)
    if seconds:
        key["window"] = f"TO_TIMESTAMP_LTZ({key['window']}, 0)"
    return ", ".join({**defaults, **expressions, **key}.values())


def _quoted(name: str) -> str:
    return f"`{name}`" if name in _RESERVED else name
