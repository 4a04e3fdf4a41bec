"""Spans that rules of streaming-jobs/spans.toml leave out of pools: which operations, and which share of a service."""

from collections.abc import Sequence
from typing import NamedTuple

from sluice.cli.doctor.clickhouse import ask
from sluice.cli.doctor.finding import Diagnosis, limited
from sluice.cli.environment import Addresses

_SHOWN = 6
# Share of a service's spans on a side above which a rule may hide real work. A waiting span, or one around another,
# stands beside a span that counts: with one wait and two sidecars for each, three in four are left out.
_MOST_LEFT_OUT, _MOST_IN_ALL = 0.5, 0.75
# The rollup of counted spans lags by 35 s, so the newest minute would show too large a share.
_QUERY = """
SELECT toString(service), toString(side), toString(operation), toString(rule), toString(action), sum(share)
FROM v_spans_left_out_between(
    from_ms = toUnixTimestamp64Milli(now64(3)) - 660000, until_ms = toUnixTimestamp64Milli(now64(3)) - 60000)
WHERE action != 'nested'
GROUP BY ALL
"""


class LeftOut(NamedTuple):
    """share: part of the service's spans on that side, 0..1."""

    service: str
    side: str
    operation: str
    rule: str
    action: str
    share: float


def left_out(where: Addresses, timeout_s: float) -> Diagnosis:
    return judge([LeftOut(*row) for row in ask(where, timeout_s, _QUERY)])


def judge(rows: Sequence[LeftOut]) -> Diagnosis:
    if not rows:
        return Diagnosis("ok", "no rule of spans.toml left a span out in the last 10 minutes")
    by_service: dict[tuple[str, str], list[LeftOut]] = {}
    for row in rows:
        by_service.setdefault((row.service, row.side), []).append(row)
    wrong = sorted(key for key, share in by_service.items() if _too_much(share))
    rest = sorted(by_service.keys() - set(wrong), key=lambda key: (-sum(row.share for row in by_service[key]), key))
    parts = limited([_text(key, by_service[key]) for key in (*wrong, *rest)], _SHOWN, "services")
    text = f"left out of pools in the last 10 minutes, by rule: {'; '.join(parts)}"
    if not wrong:
        return Diagnosis("ok", text)
    named = ", ".join(f"{service} ({side})" for service, side in wrong)
    return Diagnosis(
        "warn",
        f"{text}. That is most of what {named} does",
        "if these requests hold threads or connections, put a rule with action `count` and their `service` "
        "before the rules that are named, in streaming-jobs/spans.toml; if the service has little other work now, "
        "nothing is wrong",
    )


def _too_much(rows: Sequence[LeftOut]) -> bool:
    no_load = sum(row.share for row in rows if row.action == "leave_out")
    return no_load > _MOST_LEFT_OUT or sum(row.share for row in rows) > _MOST_IN_ALL


def _text(key: tuple[str, str], rows: Sequence[LeftOut]) -> str:
    first = sorted(rows, key=lambda row: (-row.share, row.operation, row.rule))
    operations = [f"{row.operation or '(any)'} {_percent(row.share)} ({row.rule})" for row in first]
    named = limited(operations, _SHOWN, "operations")
    return f"of {key[0]} ({key[1]}) {', '.join(named)}"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "under 1%"
