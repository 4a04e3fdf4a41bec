"""Keys of the journal's records of tuning sessions: collector/topics.yaml."""

from __future__ import annotations

from typing import NamedTuple

from sluice.journal.names import key_with, names_in

# Topic sluice_decisions. Commands in sluice_reports, and explanations, use SESSION too.
SESSION, TRIAL, ANSWERS = "session/", "trial/", "answers/"

# All sessions are in one shard, because names, and open sessions per target, are unique over all sessions.
SHARD = 0


class TrialName(NamedTuple):
    session: str
    number: int


def session_name(session: str) -> str:
    return key_with(SESSION, session)


def session_of(name: str) -> str:
    """The inverse of `session_name`; ValueError for any other text. The functions below behave alike."""
    return names_in(name, SESSION, 1)[0]


def trial_name(session: str, number: int) -> str:
    return key_with(TRIAL, session, str(number))


def trial_of(name: str) -> TrialName:
    session, number = names_in(name, TRIAL, 2)
    if not (number.isascii() and number.isdigit() and str(int(number)) == number):
        raise ValueError(f"read the journal: a key {name!r} is not {TRIAL}SESSION/NUMBER")
    return TrialName(session, int(number))


def answers_name(shard: int = SHARD) -> str:
    return f"{ANSWERS}{shard}"


def is_tuning(name: str) -> bool:
    """Whether a record of `sluice_decisions`, `sluice_explanations` or `sluice_reports` is about tuning sessions."""
    return name.startswith((SESSION, TRIAL, ANSWERS))
