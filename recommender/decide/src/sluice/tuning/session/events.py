"""What happens to a session, and what follows from it outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sluice.tuning.objective.outcome import Outcome
from sluice.tuning.session.session import Phase, Trial
from sluice.tuning.space import Configuration


@dataclass(frozen=True)
class Ask:
    """For up to `count` trials. Asked again under one request_id (not empty), the same ones are handed out again."""

    count: int = 1
    request_id: str = ""


@dataclass(frozen=True)
class Tell:
    """How a trial ended, failed ones too."""

    number: int
    outcome: Outcome


@dataclass(frozen=True)
class Applied:
    """A trial is in force since then, Unix time: the pipeline measures it, and tells."""

    number: int
    at_ms: int


@dataclass(frozen=True)
class Stop:
    """Ends the session. What is in flight may still be told."""

    why: str = ""


@dataclass(frozen=True)
class Tick:
    """Time went by: trials that nobody told in time fail."""


Event: TypeAlias = Ask | Tell | Applied | Stop | Tick


@dataclass(frozen=True)
class Handed:
    """Set this trial's configuration, measure it, tell what came of it."""

    trial: Trial


@dataclass(frozen=True)
class Restore:
    """Set this configuration, the default, again: nothing else is on trial."""

    configuration: Configuration


@dataclass(frozen=True)
class Recorded:
    """A trial has its outcome: told, or by lapse of time."""

    trial: Trial


@dataclass(frozen=True)
class Moved:
    """The session is in another phase."""

    phase: Phase
    why: str


@dataclass(frozen=True)
class Refused:
    """The event changed nothing. `code`: of gRPC; `field`: of the request; empty: the whole."""

    code: Literal["INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED"]
    field: str
    why: str


Effect: TypeAlias = Handed | Restore | Recorded | Moved | Refused
