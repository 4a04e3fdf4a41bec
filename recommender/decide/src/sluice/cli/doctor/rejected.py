"""Rows that a store refused: which ones, the cause, and the remedy."""

from sluice.cli.doctor.clickhouse import ask
from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.environment import Addresses

_MISSING = "column_missing"
_REMEDIES = {
    _MISSING: "add the column again, with its type in storage/clickhouse; rows written without it have its default "
    "until a job that starts without a savepoint reads the topic again",
    "not_encodable": "widen the column that the answer names; the rows are on topic otlp_dead_letter",
    "refused": "correct the cause that the answer names; the rows are on topic otlp_dead_letter",
    "too_large": "give the store more memory; the rows are on topic otlp_dead_letter",
}
_QUERY = (
    "SELECT store, table, reason, if(reason = 'column_missing', key, '') AS col, sum(rows), argMax(detail, at) "
    "FROM rejected_rows FINAL WHERE at >= now() - INTERVAL 10 MINUTE "
    "GROUP BY store, table, reason, col ORDER BY store, table, reason, col"
)


def rejected_rows(where: Addresses, timeout_s: float) -> Diagnosis:
    rows = ask(where, timeout_s, _QUERY)
    return judge_rejected_rows([(str(s), str(t), str(r), str(c), int(n), str(d)) for s, t, r, c, n, d in rows])


def judge_rejected_rows(rows: list[tuple[str, str, str, str, int, str]]) -> Diagnosis:
    """rows: store, table, reason, missing column ("" for other reasons), rows, newest answer of the store."""
    if not rows:
        return Diagnosis("ok", "no row was refused in the last 10 minutes")
    parts = [
        f"{store} {table}: {count:,} rows written without column {column}"
        if reason == _MISSING
        else f"{store} {table}: {count:,} rows {reason} ({' '.join(answer.split())[:160]})"
        for store, table, reason, column, count, answer in rows
    ]
    remedies = [_REMEDIES.get(reason, _REMEDIES["refused"]) for _, _, reason, *_ in rows]
    remedy = "; ".join(dict.fromkeys(remedies)) + "; `./sluice sql --recipe rejected_rows` lists them"
    return Diagnosis("warn", f"in the last 10 minutes: {'; '.join(parts)}", remedy)
