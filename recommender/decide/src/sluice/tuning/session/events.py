"""The events of a session, and their effects outside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sluice.tuning.objective.outcome import Outcome
from sluice.tuning.session.session import Phase, Trial
from sluice.tuning.space import Configuration


@dataclass(frozen=True)
class Ask:
    """Asks for up to `count` trials. The same request_id (not empty) gets the same trials again."""

    count: int = 1
    request_id: str = ""


@dataclass(frozen=True)
class Tell:
    """Reports the outcome of a trial, also of a failed one."""

    number: int
    outcome: Outcome


@dataclass(frozen=True)
class Applied:
    """Reports that a trial's configuration is in force since `at_ms`, Unix time. The pipeline measures the trial from
    then on."""

    number: int
    at_ms: int


@dataclass(frozen=True)
class Stop:
    """Ends the session. Trials in flight may still be reported."""

    why: str = ""


@dataclass(frozen=True)
class Tick:
    """Time passed: trials without a report in time fail."""


Event: TypeAlias = Ask | Tell | Applied | Stop | Tick


@dataclass(frozen=True)
class Handed:
    """Set this trial's configuration, measure it, report its outcome."""

    trial: Trial


@dataclass(frozen=True)
class Restore:
    """Set this configuration, the default, again: no other one is on trial."""

    configuration: Configuration


@dataclass(frozen=True)
class Recorded:
    """A trial has its outcome, reported or by timeout."""

    trial: Trial


@dataclass(frozen=True)
class Moved:
    """The session entered another phase."""

    phase: Phase
    why: str


@dataclass(frozen=True)
class RefusedCommand:
    """The event changed nothing. `code`: a gRPC status. `field`: the field of the request; empty for the whole."""

    code: Literal["INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED"]
    field: str
    why: str


Effect: TypeAlias = Handed | Restore | Recorded | Moved | RefusedCommand
