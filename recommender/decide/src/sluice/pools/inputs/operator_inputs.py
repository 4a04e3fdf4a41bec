"""Operators' and actuators' inputs to a shard, from the journal: sizes read back, pauses, scaling."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sluice.engine.records import Received
from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling
from sluice.pools.commit import PoolRecords
from sluice.pools.inputs.messages import scaling_of
from sluice.pools.inputs.occupancy import occupancy_report
from sluice.pools.inputs.scalings import Scalings
from sluice.pools.inputs.sizes import SizeReport, Sizes
from sluice.pools.names import key_of
from sluice.pools.v1.log_pb2 import ObservedSize, Report
from sluice.pools.v1.log_pb2 import Pause as PauseMessage

log = logging.getLogger(__name__)

# Sizes read back earlier do not apply to any window that is still to be read.
OLDEST_MS = 600_000


class DurableInputs(NamedTuple):
    """Inputs that must outlive this process, for `Commit`."""

    pauses: Mapping[PoolKey, Pause | None]
    scalings: Mapping[str, Sequence[Scaling]]


class OperatorInputs:
    """Inputs of a shard. They may arrive again, as after an aborted transaction, without effect."""

    def __init__(self, records: PoolRecords, now_ms: int) -> None:
        """records: of the shard at its takeover."""
        self.sizes, self.scalings = Sizes(), Scalings(records.states.scalings)
        self.pauses: dict[PoolKey, Pause] = dict(records.states.pauses)
        for key, facts in records.states.facts.items():
            if facts.current is not None:
                self.sizes.restore(key, facts.current, facts.change.at_ms if facts.change is not None else 0)
        self._observed: Mapping[str, ObservedSize] = {}
        self._read({name: size for name, size in records.observed.items() if _read_at_ms(size) >= now_ms - OLDEST_MS})

    def take(self, received: Received) -> DurableInputs:
        self._read(received.observed)
        paused: set[PoolKey] = set()
        scaled: set[str] = set()
        for report in (report for report in received.reports if isinstance(report, Report)):
            match report.WhichOneof("report"):
                case "pause":
                    if (key := _key_of(report.pause)) is not None:
                        size = report.pause.size if report.pause.HasField("size") else None
                        pause = Pause(report.received.ToMilliseconds(), report.by, report.pause.why, size)
                        paused.add(key)
                        if report.pause.paused:
                            self.pauses[key] = pause
                        else:
                            self.pauses.pop(key, None)
                case "scaling":
                    self.scalings.notify(scaling_of(report.scaling))
                    scaled.add(report.scaling.service)
        return DurableInputs(
            {key: self.pauses.get(key) for key in paused}, {service: self.scalings.of(service) for service in scaled}
        )

    def take_up(self, pauses: Mapping[PoolKey, Pause], scalings: Sequence[Scaling]) -> DurableInputs:
        """Adds inputs from before the journal; those of the journal take precedence."""
        self.pauses = {**pauses, **self.pauses}
        for scaling in scalings:
            self.scalings.notify(scaling)
        return DurableInputs(
            dict(self.pauses), {scaling.service: self.scalings.of(scaling.service) for scaling in scalings}
        )

    def _read(self, observed: Mapping[str, ObservedSize]) -> None:
        new = [size for name, size in observed.items() if self._observed.get(name) is not size]
        self._observed = dict(observed)
        for record in sorted(new, key=_read_at_ms):
            target = record.size
            size = target.size if target.HasField("size") else None
            if (key := _key_of(record)) is not None and (size or target.unbounded):
                at_ms = _read_at_ms(record)
                occupancy = occupancy_report(target.occupancy, at_ms)
                slo_ms = record.slo.ToNanoseconds() / 1e6 if record.HasField("slo") else None
                report = SizeReport(
                    size,
                    at_ms,
                    target.instance,
                    record.written,
                    occupancy,
                    target.reporter,
                    slo_ms,
                    record.recommends,
                )
                self.sizes.report(key, report)


def _read_at_ms(observed: ObservedSize) -> int:
    return observed.size.read_at.ToMilliseconds()


def _key_of(message: ObservedSize | PauseMessage) -> PoolKey | None:
    """The pool of a message; None for a side of a later version."""
    try:
        return key_of(message.pool)
    except ValueError as cause:
        log.error("skipped an input: %s", cause)
        return None
