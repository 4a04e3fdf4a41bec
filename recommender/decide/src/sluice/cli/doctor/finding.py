"""What one check found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from sluice.cli.environment import Addresses

Level = Literal["ok", "warn", "fail", "unknown"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class Finding:
    """`stage` and `what` say what was looked at, `remedy` what to do (empty when nothing is to be done).

    unknown: the check could not be made, so nothing is said about the stage.
    """

    stage: str
    what: str
    level: Level
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class Verdict:
    """A Finding without its place."""

    level: Level
    text: str
    remedy: str = ""


class NotAnsweringError(Exception):
    """The stage does not answer. Only the first check of a stage calls this a failure; for the others what
    they look at is unknown."""


@dataclass(frozen=True)
class Check:
    """One thing to look at; `look` may block up to the timeout, and may raise."""

    stage: str
    what: str
    look: Callable[[Addresses, float], Verdict]
