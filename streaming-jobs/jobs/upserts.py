"""SQL of the tables of ClickHouse, by the names of their columns: which there are, and their order, says `tables`."""

from tables import COLUMNS, KEYS

# Words of Flink's SQL that are names of columns.
_RESERVED = ("partition", "window")
_HISTOGRAM = "MAP"


def insert_sums(table: str, source: str, value: str = "SUM({})", *, seconds: bool = False, **given: str) -> str:
    """INSERT of the sums of `source` by the table's key.

    given: the expression of a column; of one of the key a column of the source, or a literal. Without one, a column of
    the key is the source's of that name, and `window` its window_start, in seconds of the epoch if `seconds`; a
    histogram is merged, and any other column is `value`, with its name for {}.
    Raises ValueError for what is no column of the table.
    """
    grouped = [name for name in _key(table, given).values() if not name.startswith("'")]
    rows = _select(table, value, "merge_latency({})", given, seconds=seconds)
    return f"""
        INSERT INTO {table}
        SELECT {rows}
        FROM {source}
        GROUP BY {", ".join(grouped)}"""


def insert(table: str, source: str, value: str = "{}", *, seconds: bool = False, **given: str) -> str:
    """INSERT of the rows of `source`, each of a key of its own: as insert_sums, but histograms are as other columns."""
    return f"""
        INSERT INTO {table}
        {select(table, source, value, seconds=seconds, **given)}"""


def select(table: str, source: str, value: str = "{}", *, seconds: bool = False, **given: str) -> str:
    """What `insert` inserts."""
    return f"""SELECT {_select(table, value, value, given, seconds=seconds)}
        FROM {source}"""


def keys(table: str) -> str:
    """The key as the jobs' rows have it, with window_start."""
    return ", ".join(_key(table, {}).values())


def definition(table: str) -> str:
    """Columns and key for CREATE TABLE."""
    columns = [f"{_quoted(name)} {kind}" for name, kind in COLUMNS[table].items()]
    key = ", ".join(map(_quoted, KEYS[table].split()))
    return ",\n            ".join([*columns, f"PRIMARY KEY ({key}) NOT ENFORCED"])


def _key(table: str, given: dict[str, str]) -> dict[str, str]:
    """Where the source has what each column of the key is."""
    usual = {name: "window_start" if name == "window" else _quoted(name) for name in KEYS[table].split()}
    return {name: given.get(name, source) for name, source in usual.items()}


def _select(table: str, value: str, histogram: str, given: dict[str, str], *, seconds: bool) -> str:
    if unknown := [name for name in given if name not in COLUMNS[table]]:
        legal = ", ".join(COLUMNS[table])
        raise ValueError(f"insert into {table}: no column {', '.join(unknown)}; expected {legal}")
    expressions = {
        name: (histogram if kind.startswith(_HISTOGRAM) else value).format(_quoted(name))
        for name, kind in COLUMNS[table].items()
    }
    key = _key(table, given)
    if seconds:
        key["window"] = f"TO_TIMESTAMP_LTZ({key['window']}, 0)"
    return ", ".join({**expressions, **given, **key}.values())


def _quoted(name: str) -> str:
    return f"`{name}`" if name in _RESERVED else name
