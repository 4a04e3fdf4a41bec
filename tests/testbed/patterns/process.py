"""Requests as generators, on the testbed's engine."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from ..engine import Engine
from ..pool import Pool

# Longer than any queue of a run.
ENDLESS = 10**9


@dataclass(slots=True)
class Slot:
    """Asks `pool` for a slot. timeout_s: after which it is given up; None waits for ever."""

    pool: Pool
    timeout_s: float | None = None
    settled: bool = False


Process = Generator["float | Slot", bool, None]
"""Yields seconds to wait, or a `Slot`, and is sent whether it got it (True after a wait)."""


def pool_of(size: int) -> Pool:
    return Pool(size, ENDLESS)


def start(engine: Engine, process: Process, after_s: float = 0.0) -> None:
    engine.after(after_s, lambda _: _go(engine, process, None), None)


def _go(engine: Engine, process: Process, got: bool | None) -> None:
    """got: None begins it."""
    try:
        wanted = next(process) if got is None else process.send(got)
    except StopIteration:
        return
    if isinstance(wanted, Slot):
        _ask(engine, process, wanted)
    else:
        engine.after(wanted, lambda _: _go(engine, process, True), None)


def _ask(engine: Engine, process: Process, slot: Slot) -> None:
    def granted(_: object) -> None:
        if slot.settled:
            slot.pool.release()
            return
        slot.settled = True
        engine.after(0.0, lambda _: _go(engine, process, True), None)

    def over(_: object) -> None:
        if not slot.settled:
            slot.settled = True
            _go(engine, process, False)

    slot.pool.acquire(granted, None)
    if slot.timeout_s is not None and not slot.settled:
        engine.after(slot.timeout_s, over, None)
