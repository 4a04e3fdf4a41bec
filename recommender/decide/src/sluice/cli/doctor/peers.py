"""Client spans that do not say whom they call: their pools are all one, `unknown`."""

from sluice.cli.doctor.clickhouse import ask
from sluice.cli.doctor.finding import Check, Verdict
from sluice.cli.environment import Addresses

#: A service's share of calls to nobody from which on it is worth a look: less is the odd span.
_SHARE_WARN = 0.01
_SHOWN = 5
_QUERY = (
    "SELECT service, sumIf(completions, peer = 'unknown') AS unknown, sum(completions) AS calls FROM v_windows_1m "
    "WHERE side = 'client' AND start >= now() - INTERVAL 1 HOUR "
    "GROUP BY service HAVING unknown > 0 ORDER BY unknown DESC, service"
)


def peers(where: Addresses, timeout_s: float) -> Verdict:
    rows = ask(where, timeout_s, _QUERY)
    return judge_peers([(str(service), int(unknown), int(calls)) for service, unknown, calls in rows])


def judge_peers(rows: list[tuple[str, int, int]]) -> Verdict:
    """rows: service, client spans of the last hour that name no peer, all of its client spans; most first."""
    if not rows:
        return Verdict("ok", "every client span of the last hour names whom it calls")
    parts = [f"{service}: {unknown / calls:.1%} of {calls:,}" for service, unknown, calls in rows[:_SHOWN]]
    if len(rows) > _SHOWN:
        parts.append(f"{len(rows) - _SHOWN} more services")
    text = (
        f"client spans of the last hour that do not say whom they call, and count under `unknown`: {', '.join(parts)}"
    )
    if all(unknown < _SHARE_WARN * calls for _, unknown, calls in rows):
        return Verdict("ok", text)
    return Verdict(
        "warn",
        text,
        "their pools are told apart once the spans have service.peer.name, peer.service or server.address; "
        "streaming-jobs/functions/src/main/resources/dev/sluice/otlp/attributes.csv lists all names that are read",
    )


CHECKS = [Check("clickhouse", "peers", peers)]
