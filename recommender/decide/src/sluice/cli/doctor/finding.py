"""The result of one check."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sluice.cli.environment import Addresses

Level = Literal["ok", "warn", "fail", "unknown"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class Finding:
    """`stage` and `what` name the check. `remedy` tells how to mend the finding ("" where nothing needs mending).

    unknown: the check could not be made, so it tells nothing about the stage.
    """

    stage: str
    what: str
    level: Level
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """A Finding without stage and check."""

    level: Level
    text: str
    remedy: str = ""


def limited(parts: Sequence[str], most: int, what: str) -> list[str]:
    """The first `most` parts; where there are more, also "N more" and `what` they are."""
    return [*parts[:most], *([f"{len(parts) - most} more {what}".rstrip()] if len(parts) > most else [])]


class NotAnsweringError(Exception):
    """The stage does not answer. Only the first check of a stage reports this as a failure; the others report
    unknown."""


class NoStageError(Exception):
    """The stage's address is environment.NONE. Its checks are left out."""


@dataclass(frozen=True)
class Check:
    """One check. `look` may block up to the timeout, and may raise."""

    stage: str
    what: str
    look: Callable[[Addresses, float], Diagnosis]
