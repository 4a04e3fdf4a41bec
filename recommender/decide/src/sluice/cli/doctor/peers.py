"""Client spans that name no peer: all their calls count in one pool per service, `unknown`."""

from sluice.cli.doctor.clickhouse import ask
from sluice.cli.doctor.finding import Diagnosis, limited
from sluice.cli.environment import Addresses

#: Share of a service's calls without a peer from which on the check warns: a smaller share is stray spans.
_SHARE_WARN = 0.01
_SHOWN = 5
_QUERY = (
    "SELECT service, sumIf(completions, peer = 'unknown') AS unknown, sum(completions) AS calls FROM v_windows_1m "
    "WHERE side = 'client' AND start >= now() - INTERVAL 1 HOUR "
    "GROUP BY service HAVING unknown > 0 ORDER BY unknown DESC, service"
)


def peers(where: Addresses, timeout_s: float) -> Diagnosis:
    rows = ask(where, timeout_s, _QUERY)
    return judge_peers([(str(service), int(unknown), int(calls)) for service, unknown, calls in rows])


def judge_peers(rows: list[tuple[str, int, int]]) -> Diagnosis:
    """rows: service, client spans of the last hour without a peer, all client spans of it; most first."""
    if not rows:
        return Diagnosis("ok", "every client span of the last hour names its peer")
    shares = [f"{service}: {unknown / calls:.1%} of {calls:,}" for service, unknown, calls in rows]
    parts = limited(shares, _SHOWN, "services")
    text = f"client spans of the last hour that name no peer, and count under `unknown`: {', '.join(parts)}"
    if all(unknown < _SHARE_WARN * calls for _, unknown, calls in rows):
        return Diagnosis("ok", text)
    return Diagnosis(
        "warn",
        text,
        "each peer gets a pool of its own once the spans have service.peer.name, peer.service or server.address; "
        "streaming-jobs/functions/src/main/resources/dev/sluice/otlp/attributes.csv lists all attributes that count",
    )
