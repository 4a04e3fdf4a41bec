"""Answers and reports in ClickHouse: what survives a restart, and the audit."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, cast

from sluice.control.answer import Answer, Content
from sluice.control.clickhouse import ClickHouse
from sluice.control.pauses import Pause
from sluice.control.scalings import Scaling
from sluice.control.state_log import WRITE_FIRST_S
from sluice.control.store import Memory
from sluice.core.keys import PoolKey
from sluice.pools.v1 import actuation_pb2 as pb
from sluice.serve.outbox import Outbox, Row

RESTORE_SQL = files(__package__).joinpath("restore.sql").read_text(encoding="utf-8")
SCALINGS_SQL = files(__package__).joinpath("scalings.sql").read_text(encoding="utf-8")
PAUSES_SQL = files(__package__).joinpath("pauses.sql").read_text(encoding="utf-8")

COLUMNS = {
    "recommendations": [
        *("service", "side", "peer", "at", "state", "current", "target", "lower_bound", "upper_bound"),
        *("unguarded_target", "confidence", "threshold_ms", "model", "reasons", "buckets", "newest_bucket"),
        *("valid_until", "revision", "basis", "action"),
    ],
    "actuations": [
        *("service", "side", "peer", "at", "target_name", "actuator", "outcome", "requested", "previous"),
        *("read_back", "revision", "detail", "instance", "unbounded"),
    ],
    "pool_pauses": ["service", "side", "peer", "at", "paused", "by", "why"],
    "scaling_events": ["service", "at", "cpu_limit_cores", "replicas", "version", "source"],
}

# An answer that stays as it is has a row as often as this.
AGAIN_MS = 5_000


class History:
    """Satisfies `Remembers` of the control loop."""

    def __init__(self, reader: ClickHouse, outbox: Outbox) -> None:
        self._reader, self._outbox = reader, outbox
        self._rows: dict[PoolKey, tuple[int, int]] = {}

    def restore(self) -> dict[PoolKey, Memory]:
        """Newest revision and its content of every pool ever answered for."""
        return dict(_memory(row) for row in self._reader.rows(RESTORE_SQL))

    def pauses(self) -> dict[PoolKey, Pause]:
        """The pools that are paused."""
        rows = cast(list[tuple[Any, ...]], self._reader.rows(PAUSES_SQL))
        return {PoolKey(service, side, peer): Pause(at, by, why) for service, side, peer, at, by, why in rows}

    def record(self, answers: list[Answer]) -> None:
        """A row for each that is a new one, and now and then for one that is not. Waits for none but new ones."""
        new = [answer for answer in answers if self._rows.get(answer.key, (0, 0))[0] != answer.revision]
        due = [answer for answer in answers if self._due(answer)]
        self._rows |= {answer.key: (answer.revision, answer.computed_at_ms) for answer in due}
        self._outbox.put("recommendations", [recommendation_row(answer) for answer in due])
        if new:
            self._outbox.flush(WRITE_FIRST_S)

    def _due(self, answer: Answer) -> bool:
        revision, at_ms = self._rows.get(answer.key, (0, 0))
        return revision != answer.revision or answer.computed_at_ms - at_ms >= AGAIN_MS

    def report(self, key: PoolKey, actuation: pb.Actuation, received_ms: int) -> None:
        self._outbox.put("actuations", [actuation_row(key, actuation, received_ms)])

    def paused(self, key: PoolKey, pause: Pause, *, paused: bool) -> bool:
        """Keeps that a pool was paused, or resumed; False while it is not stored yet."""
        self._outbox.put("pool_pauses", [(*key, _time(pause.at_ms), paused, pause.by, pause.why)])
        return self._outbox.flush(WRITE_FIRST_S)

    def scalings(self) -> list[Scaling]:
        """The newest notifications of each service."""
        rows = cast(list[tuple[Any, ...]], self._reader.rows(SCALINGS_SQL))
        return [
            Scaling(at, service, cores, replicas, version, source)
            for service, at, cores, replicas, version, source in rows
        ]

    def scaled(self, scaling: Scaling) -> bool:
        """Keeps a notification; False while it is not stored yet."""
        s = scaling
        row = (s.service, _time(s.at_ms), s.cpu_limit_cores, s.replicas, s.version, s.source)
        self._outbox.put("scaling_events", [row])
        return self._outbox.flush(WRITE_FIRST_S)


def recommendation_row(answer: Answer) -> Row:
    """In the order of COLUMNS["recommendations"].

    `at` is when the answer came to be. A stale one did when its lease ended: `at` is in the key of the table, and with
    the time of the estimate the row would replace that of the answer which went stale.
    """
    content, windows = answer.content, answer.windows
    return (
        *answer.key,
        _time(answer.valid_until_ms if content.state == "STALE" else answer.computed_at_ms),
        content.state,
        content.current,
        content.target,
        content.lower_bound,
        content.upper_bound,
        content.unguarded_target,
        answer.confidence,
        answer.threshold.value_ms,
        answer.model,
        list(content.codes),
        windows.buckets if windows else 0,
        _time(windows.end_ms) if windows else None,
        _time(answer.valid_until_ms),
        answer.revision,
        content.basis,
        content.action,
    )


def actuation_row(key: PoolKey, actuation: pb.Actuation, received_ms: int) -> Row:
    """In the order of COLUMNS["actuations"]; `at` is the actuator's own time, or that of receipt without one."""
    at_ms = actuation.at.ToMilliseconds() if actuation.HasField("at") else received_ms
    return (
        *key,
        _time(at_ms),
        actuation.target_name,
        actuation.actuator,
        pb.ActuationOutcome.Name(actuation.outcome).removeprefix("ACTUATION_OUTCOME_"),
        actuation.requested if actuation.HasField("requested") else None,
        actuation.previous if actuation.HasField("previous") else None,
        actuation.read_back if actuation.HasField("read_back") else None,
        actuation.revision,
        actuation.detail,
        actuation.instance or actuation.target_name,
        actuation.unbounded,
    )


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _memory(row: tuple[object, ...]) -> tuple[PoolKey, Memory]:
    service, side, peer, revision, state, sizes, codes, basis, action = cast(tuple[Any, ...], row)
    current, target, lower, upper, unguarded = sizes
    content = Content(state, current, target, lower, upper, unguarded, tuple(codes), basis, action)
    return PoolKey(service, side, peer), Memory(int(revision), content)
