"""What a watcher is told: the whole state once, then what changed, and heartbeats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sluice.common.v1.watch_pb2 import Heartbeat, Snapshot
from sluice.control.store import Published
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.serve.messages import InvalidFieldError, pool_size, timestamp

# Callers choose services and cursors freely: what is kept of them is bounded.
MOST_BATCHES = 64


class Cursor(NamedTuple):
    """How far a watcher is: the set that it has seen whole, of one run of the server."""

    run: str
    number: int

    def __str__(self) -> str:
        return f"{self.run}.{self.number}"


def parse_cursor(token: str) -> Cursor | None:
    """The cursor in a resume token; None for an empty one. InvalidFieldError when it is none of ours."""
    if not token:
        return None
    run, dot, number = token.rpartition(".")
    if not dot or not run or not number.isdecimal():
        raise InvalidFieldError(f"resume_token {token!r} is not legal; legal: that of a message received, or empty")
    return Cursor(run, int(number))


def events(published: Published, run: str, cursor: Cursor | None, service: str) -> Iterator[api.WatchPoolSizesResponse]:
    """What brings a watcher at `cursor` to `published`; its last event is a snapshot or a heartbeat.

    A watcher of another run, or of another set of pools, is given everything: which pools are gone cannot be told
    from changes alone.
    """
    here = str(Cursor(run, published.number))
    known = cursor is not None and cursor.run == run and published.pools_at <= cursor.number <= published.number
    since = cursor.number if cursor is not None and known else 0
    news = [
        pool_size(answer)
        for key, answer in published.answers.items()
        if service in ("", key.service) and published.changed[key] > since
    ]
    for message in news:
        yield api.WatchPoolSizesResponse(pool_size=message)
    if known:
        yield api.WatchPoolSizesResponse(heartbeat=_heartbeat(published), resume_token=here)
    else:
        yield api.WatchPoolSizesResponse(snapshot=Snapshot(answers=len(news)), resume_token=here)


class Batches:
    """The events of the newest set, made once for all watchers that are equally far: most are. For one thread."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._of: Published | None = None
        self._made: dict[tuple[Cursor | None, str], list[api.WatchPoolSizesResponse]] = {}

    def of(self, published: Published, cursor: Cursor | None, service: str) -> list[api.WatchPoolSizesResponse]:
        """What `events` gives. Cursors that are not known count as none, so that callers cannot fill the memory."""
        if published is not self._of:
            self._of, self._made = published, {}
        known = cursor is not None and cursor.run == self._run and cursor.number <= published.number
        kept = (cursor if known else None, service)
        made = self._made.get(kept)
        if made is None:
            made = list(events(published, self._run, kept[0], service))
            if len(self._made) < MOST_BATCHES:
                self._made[kept] = made
        return made

    def __len__(self) -> int:
        return len(self._made)


def _heartbeat(published: Published) -> Heartbeat:
    """The newest period of any answer: those of stale ones stand still."""
    newest = max(published.answers.values(), key=lambda answer: answer.computed_at_ms, default=None)
    if newest is None:
        return Heartbeat()
    return Heartbeat(computed_at=timestamp(newest.computed_at_ms), valid_until=timestamp(newest.valid_until_ms))
