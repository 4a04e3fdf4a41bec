"""Why a list of pools is empty, and what to do, by the candidate pools in ClickHouse."""

from collections.abc import Sequence

from sluice.cli.environment import Addresses

_SHOWN, _TIMEOUT_S = 6, 3.0
_CANDIDATES = """
SELECT toString(service), toString(side), toString(peer), sum(completions) AS requests
FROM v_windows_1m WHERE start > now() - INTERVAL 10 MINUTE
GROUP BY ALL ORDER BY requests DESC, 1, 2, 3 LIMIT 10000
"""
Row = tuple[str, str, str, int]


def why_empty(service: str, where: Addresses) -> str:
    # Only an empty list needs an HTTP client.
    from sluice.cli.doctor.clickhouse import ask
    from sluice.cli.doctor.finding import NoStageError, NotAnsweringError

    nothing = f"The recommender has no pool{f' of service {service!r}' if service else ''}"
    try:
        rows = ask(where, _TIMEOUT_S, _CANDIDATES)
    except (NotAnsweringError, NoStageError):
        return f"{nothing}, and ClickHouse does not tell which spans arrived: see ./sluice doctor."
    return (
        f"{nothing}. {advice(service, [(str(of), str(side), str(peer), int(n)) for of, side, peer, n in rows], where)}"
    )


def advice(service: str, rows: Sequence[Row], where: Addresses) -> str:
    """rows: service, side, peer and requests of each candidate pool of the newest ten minutes, most first."""
    if not rows:
        return (
            f"No span arrived in 10 min. Send traces by OTLP to {where.otlp_grpc} (gRPC) or {where.otlp_http} (HTTP), "
            f"for instance with OTEL_EXPORTER_OTLP_ENDPOINT=http://{where.otlp_grpc}; ./sluice doctor shows what comes."
        )
    own = [row for row in rows if row[0] == service] or rows
    shown = ", ".join(f"{_name(row)} ({row[3]:,} requests)" for row in own[:_SHOWN])
    more = f" and {len(own) - _SHOWN} more" if len(own) > _SHOWN else ""
    return (
        f"Spans of 10 min show these candidates: {shown}{more}. ./sluice pools discover tells why they are no pools. "
        "Name those that are under `pools` in the decider's file, then run ./sluice reload."
    )


def _name(row: Row) -> str:
    return "/".join(part for part in row[:3] if part)
