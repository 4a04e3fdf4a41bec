"""Rollups of windows by the time range, which bound the rows that a query reads: at most some 11,000 of an instance and
pool up to a week. The finest rollup is 5 s behind the spans, the others up to 35 s."""

_RANGE_MS = "(${__to} - ${__from})"
_HOUR_MS = 3_600_000
# Table, seconds of a row, and the time ranges (ms) that it is for: above the first value, up to the second.
_LEVELS = (
    ("windows_1s", 1, 0, 3 * _HOUR_MS),
    ("windows_10s", 10, 3 * _HOUR_MS, 24 * _HOUR_MS),
    ("windows_1m", 60, 24 * _HOUR_MS, 10**15),
)
_SECONDS = f"multiIf({_RANGE_MS} <= {3 * _HOUR_MS}, 1, {_RANGE_MS} <= {24 * _HOUR_MS}, 10, 60)"
# Seconds of a point: the panel's interval, rounded up to whole rows of the rollup.
STEP = f"(intDiv($__interval_s + {_SECONDS} - 1, {_SECONDS}) * {_SECONDS})"
TIME = f"toStartOfInterval(start, toIntervalSecond{STEP})"


def windows(columns: str, condition: str) -> str:
    """A subquery of the rollup for the time range: `columns`, and its `start` and `seconds`.

    The engine folds the comparison of each level with the time range, and reads one table.
    """
    parts = [
        f"SELECT {columns}, start, {seconds} AS seconds FROM sluice.{table} FINAL "
        f"WHERE {_RANGE_MS} > {above} AND {_RANGE_MS} <= {up_to} AND $__timeFilter(start) AND ({condition})"
        for table, seconds, above, up_to in _LEVELS
    ]
    return "(" + " UNION ALL ".join(parts) + ")"


def newest(minutes: int) -> str:
    """Arguments of a view `*_between`, which reads every row of its range: the newest minutes of the time range."""
    return f"from_ms = greatest(${{__from}}, ${{__to}} - {minutes * 60_000}), until_ms = ${{__to}}"
