"""Why a list of pools or of candidates is empty, and what to do, by the windows in ClickHouse."""

from collections.abc import Sequence

from sluice.cli.environment import Addresses

_SHOWN, _TIMEOUT_S = 6, 3.0
_CANDIDATES = """
SELECT toString(service), toString(side), toString(peer), sum(completions) AS requests,
    min(start) > now() - INTERVAL 2 MINUTE AS recent
FROM v_windows_1m WHERE start > now() - INTERVAL 10 MINUTE
GROUP BY ALL ORDER BY requests DESC, 1, 2, 3 LIMIT 10000
"""
_UNREAD = ", and ClickHouse does not tell which spans arrived: see ./sluice doctor."
Row = tuple[str, str, str, int]
Seen = tuple[str, str, str, int, bool]


def why_empty(service: str, where: Addresses) -> str:
    nothing = f"The recommender has no pool{f' of service {service!r}' if service else ''}"
    rows = _rows(where)
    return f"{nothing}{_UNREAD}" if rows is None else f"{nothing}. {advice(service, [row[:4] for row in rows], where)}"


def why_no_candidate(pools: int, where: Addresses) -> str:
    """pools: number of the recommender's pools, which the configuration lists where there is no candidate."""
    nothing, rows = "The recommender has no candidate", _rows(where)
    return f"{nothing}{_UNREAD}" if rows is None else f"{nothing}. {unfound(rows, pools, where)}"


def unfound(rows: Sequence[Seen], pools: int, where: Addresses) -> str:
    """Why the rows' service, side and peer are no candidates: the one cause that holds."""
    if not rows:
        return advice("", [], where)
    return f"{_spans(rows)} {_unselected(pools, all(row[4] for row in rows))}"


def _unselected(pools: int, recent: bool) -> str:
    """Why none of the rows is a candidate. recent: all are of the last two minutes."""
    if pools:
        return (
            "The configuration lists its pools, so none is looked for: add `discovery: {}` to the decider's file, "
            "and run ./sluice reload."
        )
    if recent:
        return "The decider reads them every 20 s: run this command again. If nothing changes, see ./sluice doctor."
    return "`discovery` in the decider's file selects none of them: see its `include` and `exclude`."


def _rows(where: Addresses) -> list[Seen] | None:
    """service, side, peer, requests of the newest ten minutes, most first, and whether all are of the last two. None
    where ClickHouse does not answer."""
    # Only an empty list needs an HTTP client.
    from sluice.cli.doctor.clickhouse import ask
    from sluice.cli.doctor.finding import NoStageError, NotAnsweringError

    try:
        rows = ask(where, _TIMEOUT_S, _CANDIDATES)
    except (NotAnsweringError, NoStageError):
        return None
    return [(str(of), str(side), str(peer), int(n), bool(recent)) for of, side, peer, n, recent in rows]


def advice(service: str, rows: Sequence[Row], where: Addresses) -> str:
    """rows: service, side, peer and requests of each candidate pool of the newest ten minutes, most first."""
    if not rows:
        return (
            f"No span arrived in 10 min. Send traces by OTLP to {where.otlp_grpc} (gRPC) or {where.otlp_http} (HTTP), "
            f"for instance with OTEL_EXPORTER_OTLP_ENDPOINT=http://{where.otlp_grpc}; ./sluice doctor shows what comes."
        )
    own = [row for row in rows if row[0] == service] or rows
    return (
        f"{_spans(own)} ./sluice pools discover tells why none is a pool. "
        "To name pools by hand, add them under `pools` in the decider's file, and run ./sluice reload."
    )


def _spans(rows: Sequence[Row | Seen]) -> str:
    shown = ", ".join(f"{'/'.join(filter(None, row[:3]))} ({row[3]:,} requests)" for row in rows[:_SHOWN])
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return f"Spans of 10 min show these candidates: {shown}{more}."
