"""The query of one control period: its text, and its parameters for a set of pools."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

from sluice.collect.latency import last_index_within
from sluice.config import PoolKey

SQL = files(__package__).joinpath("windows.sql").read_text(encoding="utf-8")


class Request(NamedTuple):
    """A pool and the threshold that judges its completions."""

    key: PoolKey
    threshold_ns: int


def parameters(requests: list[Request], from_ms: int, to_ms: int, bucket_ms: int) -> dict[str, object]:
    """Server-side parameters of `SQL`; `pool` in the result is the index into `requests`.

    from_ms and to_ms: Unix time, half open, by the start of a bucket.
    """
    keys: list[tuple[int, int, int, str, str, str]] = []
    for index, (key, threshold_ns) in enumerate(requests):
        last_good = last_index_within(threshold_ns)
        judge = ("client", "", key.service) if key.side == "server" else ("server", key.service, "")
        keys.append((index, last_good, 0, key.side, key.service, key.peer))
        keys.append((index, last_good, 1, *judge))
    own: set[tuple[str, str]] = {(key.side, key.service) for key, _ in requests}
    own |= {("server", key.service) for key, _ in requests if key.side == "client"}
    return {
        "keys": keys,
        "own": sorted(own),
        "callees": sorted({key.service for key, _ in requests if key.side == "server"}),
        "from_ms": from_ms,
        "to_ms": to_ms,
        "bucket_ms": bucket_ms,
    }
