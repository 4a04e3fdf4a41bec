"""Why a pool of the configuration has no data, by the candidate pools: spans do not show it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.pools.nearest.query import LASTS_S, PoolInSpans

# Names shown. Above so many missing services, names are not compared: that takes 5 ms for each, among 2,000 services.
SHOWN, COMPARED = 4, 20


class Nearest:
    """The candidates nearest to a pool that spans do not show."""

    def __init__(self, candidates: Sequence[PoolInSpans]) -> None:
        """candidates: of all services; those with most requests first."""
        self._all = candidates
        self._of_service: dict[str, list[PoolInSpans]] = {}
        for candidate in candidates:
            self._of_service.setdefault(candidate.key.service, []).append(candidate)
        self._similar: dict[str, list[PoolInSpans]] = {}

    def reason(self, key: PoolKey) -> Reason | None:
        """None where spans show the pool."""
        own = self._of_service.get(key.service, [])
        if any(candidate.key == key for candidate in own):
            return None
        minutes = LASTS_S // 60
        if not self._all:
            return Reason("NOT_IN_SPANS", f"no spans of any service arrived in {minutes} min; see ./sluice doctor")
        near, what = sorted(own, key=lambda candidate: candidate.key.side != key.side), "nearest pools"
        near = near or self._of_similar(key)
        if not near:
            near, what = list(self._all), "busiest pools"
        shown = ", ".join(f"{candidate.key} ({candidate.requests:,} requests)" for candidate in near[:SHOWN])
        missing = f"{key}" if own else f"service {key.service}"
        return Reason("NOT_IN_SPANS", f"spans of {minutes} min show no {missing}; the {what} in them: {shown}")

    def _of_similar(self, key: PoolKey) -> list[PoolInSpans]:
        """Candidates of services whose names are similar, those of the pool's side first."""
        if key.service not in self._similar and len(self._similar) < COMPARED:
            self._similar[key.service] = self._compare(key.service)
        return sorted(self._similar.get(key.service, []), key=lambda candidate: candidate.key.side != key.side)

    def _compare(self, service: str) -> list[PoolInSpans]:
        names: dict[str, list[str]] = {}
        for name in self._of_service:
            names.setdefault(name.lower(), []).append(name)
        wanted = service.lower()
        close = get_close_matches(wanted, names, n=SHOWN)
        close += [name for name in names if name not in close and (wanted in name or name in wanted)]
        return [candidate for low in close for name in names[low] for candidate in self._of_service[name]]
