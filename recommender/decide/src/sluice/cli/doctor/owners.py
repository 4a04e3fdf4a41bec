"""Targets that two actuators report: which one owns each, and which one the servers refuse."""

from sluice.cli.doctor.clickhouse import ask
from sluice.cli.doctor.finding import Diagnosis, limited
from sluice.cli.environment import Addresses

_SHOWN = 6
_PREFIX = "TARGET_OWNED: "
# A refused actuator reports again every 15 s.
_QUERY = (
    "SELECT argMax(detail, received) AS newest FROM actuations FINAL "
    f"WHERE received >= now() - INTERVAL 1 MINUTE AND startsWith(detail, '{_PREFIX}') "
    "GROUP BY service, side, peer, instance ORDER BY service, side, peer, instance"
)


def owners(where: Addresses, timeout_s: float) -> Diagnosis:
    return judge_owners([str(detail) for (detail,) in ask(where, timeout_s, _QUERY)])


def judge_owners(details: list[str]) -> Diagnosis:
    """details: the newest refusal of each target in the audit, as a server wrote it."""
    if not details:
        return Diagnosis("ok", "no target was reported by two actuators in the last minute")
    parts = limited([detail.removeprefix(_PREFIX).partition(";")[0] for detail in details], _SHOWN, "targets")
    return Diagnosis(
        "warn",
        f"in the last minute: {'; '.join(parts)}",
        "one actuator owns a target: remove it from one of the two configurations. Where you replaced the owner, the "
        "server accepts its successor a minute after the owner's last report. `./sluice actuations` lists the refusals",
    )
