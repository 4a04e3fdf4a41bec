"""One finished span, as an agent of any language reports it."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """By OTLP's numbers."""

    INTERNAL = 1
    SERVER = 2
    CLIENT = 3
    PRODUCER = 4
    CONSUMER = 5


class Span(NamedTuple):
    """Times in seconds of the run, by the clock of the host that `service` is on. parent_id: 0 of a root. peer: who is
    called, "" else."""

    service: str
    trace_id: int
    span_id: int
    parent_id: int
    name: str
    kind: Kind
    start_s: float
    end_s: float
    peer: str = ""
    failed: bool = False
    attributes: tuple[tuple[str, str | int], ...] = ()
