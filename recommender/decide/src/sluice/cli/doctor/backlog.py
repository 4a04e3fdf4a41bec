"""How far the stages behind the topic of spans lag: the journal's readers in records, each stage in time."""

import re

from sluice.cli.doctor.clickhouse import ask
from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.doctor.kafka import admin, group_lags, partition_counts, partition_ends
from sluice.cli.environment import Addresses
from sluice.cli.pools.text import seconds

#: Consumer groups of the deciders, and of the process that writes the journal to ClickHouse.
_READERS = re.compile(r".+-(deciders|sluice-records)")


def journal_readers(where: Addresses, timeout_s: float) -> Diagnosis:
    client = admin(where, timeout_s)
    counts = partition_counts(client, where, timeout_s)
    ends = partition_ends(client, timeout_s, {name: n for name, n in counts.items() if not name.startswith("__")})
    return judge_readers(group_lags(client, timeout_s, ends, lambda group: _READERS.fullmatch(group) is not None))


def judge_readers(lags: dict[str, int]) -> Diagnosis:
    """lags: records that a consumer group has not committed, by group."""
    if not lags:
        return Diagnosis("unknown", "not known: no reader of the journal has committed an offset yet")
    return Diagnosis(
        "ok", "; ".join(f"group {group}: {behind:,} records behind" for group, behind in sorted(lags.items()))
    )


def stage_lags(where: Addresses, timeout_s: float) -> Diagnosis:
    rows = ask(where, timeout_s, "SELECT stage, lag_ms FROM v_stage_lag")
    return judge_stage_lags([(str(stage), None if lag_ms is None else float(lag_ms)) for stage, lag_ms in rows])


def judge_stage_lags(rows: list[tuple[str, float | None]]) -> Diagnosis:
    """rows: stage and lag in ms as in the view v_stage_lag, None where no data of the last minute shows it."""
    parts = [f"{stage} " + ("unknown" if ms is None else seconds(ms / 1000)) for stage, ms in rows]
    return Diagnosis("unknown" if all(ms is None for _, ms in rows) else "ok", "; ".join(parts))
