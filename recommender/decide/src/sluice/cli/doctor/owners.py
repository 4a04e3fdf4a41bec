"""Targets that two actuators report: which of the two owns each, and which one the servers refuse."""

from sluice.cli.doctor.clickhouse import ask
from sluice.cli.doctor.finding import Check, Verdict
from sluice.cli.environment import Addresses

_SHOWN = 6
_PREFIX = "TARGET_OWNED: "
# A refused actuator reports again each 15 s.
_QUERY = (
    "SELECT argMax(detail, received) AS newest FROM actuations FINAL "
    f"WHERE received >= now() - INTERVAL 1 MINUTE AND startsWith(detail, '{_PREFIX}') "
    "GROUP BY service, side, peer, instance ORDER BY service, side, peer, instance"
)


def owners(where: Addresses, timeout_s: float) -> Verdict:
    return judge_owners([str(detail) for (detail,) in ask(where, timeout_s, _QUERY)])


def judge_owners(details: list[str]) -> Verdict:
    """details: the newest refusal of each target in the audit, as a server wrote it."""
    if not details:
        return Verdict("ok", "no target was reported by two actuators in the last minute")
    parts = [detail.removeprefix(_PREFIX).partition(";")[0] for detail in details[:_SHOWN]]
    if len(details) > _SHOWN:
        parts.append(f"{len(details) - _SHOWN} more targets")
    return Verdict(
        "warn",
        f"in the last minute: {'; '.join(parts)}",
        "one actuator owns a target: take it out of one of the two configurations; where the owner was replaced, its "
        "successor is taken a minute after the owner's last report. `./sluice actuations` lists the refusals",
    )


CHECKS = [Check("recommender", "owners of targets", owners)]
