"""The services of a shard whose spans are a sample, read every five seconds."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from sluice.model.problems import Problems
from sluice.pools.period.source import WindowSource
from sluice.pools.sampling.verdict import Kind, Sampling
from sluice.pools.section import PoolsSection

log = logging.getLogger(__name__)

#: A sampler that begins is known before the guard compares 30 s of it with the time before (`harm.py`).
EVERY_MS = 5_000
#: A pool may be decided after 4 s of windows. Until then it has to be known whether they are a sample.
EVERY_UNKNOWN_MS = 2_000
ACTIVITY = "sampling of spans"
UNREAD = Sampling(Kind.UNKNOWN, "its spans have just begun")


class ServiceSamplings:
    """After a failed reading the last ones stay."""

    def __init__(self) -> None:
        self._of: Mapping[str, Sampling | None] = {}
        self._all_ms: int | None = None
        self._read_ms: int | None = None

    def look(self, config: PoolsSection, collector: WindowSource, now_ms: int, problems: Problems) -> None:
        """Reads all services when due, and more often those of which it is unknown. now_ms: Unix time."""
        names = {pool.service for pool in config.pools}.difference(config.unsampled)
        every = _due(self._all_ms, now_ms, EVERY_MS)
        if not every and not _due(self._read_ms, now_ms, EVERY_UNKNOWN_MS):
            return
        self._read_ms = now_ms
        self._all_ms = now_ms if every else self._all_ms
        asked = names if every else {name for name in names if self._is_unknown(name)}
        nothing: Mapping[str, Sampling | None] | None = None
        found = problems.result(ACTIVITY, lambda: collector.samplings(asked, now_ms), nothing) if asked else None
        if found is not None:
            self._warn(found)
            self._of = {name: of for name, of in ({} if every else self._of).items() if name in names} | {**found}

    def of(self, service: str, unsampled: Collection[str] = ()) -> Sampling | None:
        """None where the spans of the service are all there, as far as it is known. A service without spans in the last
        reading, beside others that have some, is unknown."""
        if service in unsampled or not self._of:
            return None
        return self._of.get(service, UNREAD)

    def _is_unknown(self, name: str) -> bool:
        sampling = self._of.get(name, UNREAD)
        return sampling is not None and not sampling.refuses

    def _warn(self, found: Mapping[str, Sampling | None]) -> None:
        for name, sampling in sorted(found.items()):
            if sampling is not None and sampling.refuses and not self._refuses(name):
                log.warning("spans of %s are a sample: %s", name, sampling.text)

    def _refuses(self, name: str) -> bool:
        before = self._of.get(name)
        return before is not None and before.refuses


def _due(last_ms: int | None, now_ms: int, every_ms: int) -> bool:
    return last_ms is None or abs(now_ms - last_ms) >= every_ms
