"""The decider: whether its periods complete, and whether they produce decisions."""

import time

from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.doctor.probe import get_metrics, readiness
from sluice.cli.doctor.prometheus import sums
from sluice.cli.environment import Addresses

_FRESH_S = 60.0
_LOG = "read the decider's log"


def health(where: Addresses, timeout_s: float) -> Diagnosis:
    return readiness(where.decider, timeout_s, _LOG)


def periods(where: Addresses, timeout_s: float) -> Diagnosis:
    return judge(sums(get_metrics(where.decider, timeout_s)), time.time())


def judge(metrics: dict[str, float], now_s: float) -> Diagnosis:
    """metrics: the decider's own, by name without suffixes. now_s: Unix time."""
    shards, pools = (int(metrics.get(f"sluice_decider_{name}", 0)) for name in ("shards", "pools"))
    if not shards:
        return Diagnosis("warn", "it has no shard: another decider has them, or it cannot read the journal", _LOG)
    newest_s = metrics.get("sluice_decider_newest_period_timestamp_seconds", 0.0)
    text = f"{pools} pools of {shards} {'shard' if shards == 1 else 'shards'}"
    if not newest_s:
        return Diagnosis("warn", f"{text}; no decision yet", _LOG)
    text += f"; a period {now_s - newest_s:.1f} s ago took {metrics.get('sluice_decider_period_seconds', 0.0):.2f} s"
    if now_s - newest_s > _FRESH_S:
        return Diagnosis("fail", text, f"no period succeeds: {_LOG}")
    if standing := int(metrics.get("sluice_decider_not_renewed", 0)):
        return Diagnosis("warn", f"{text}; {standing} pools without a decision", f"wait for their windows, or {_LOG}")
    return Diagnosis("ok", text)
