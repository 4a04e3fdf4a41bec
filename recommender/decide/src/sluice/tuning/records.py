"""The journal's records of tuning sessions, and the records that a step adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from google.protobuf.message import Message

from sluice.tuning.session.session import Session
from sluice.tuning.v1 import log_pb2

Sessions = Mapping[str, Session]
Records = Mapping[str, Message | None]


@dataclass(frozen=True)
class KnownSessions:
    """The sessions in the journal. answers: the newest ones, the newest last."""

    sessions: Sessions = field(default_factory=dict)
    answers: Sequence[log_pb2.Answer] = ()

    def summary(self) -> str:
        return f"{len(self.sessions)} tuning sessions"


@dataclass(frozen=True)
class TuningCommit:
    """Records of one transaction, by their keys. A value of None deletes the record."""

    decisions: Records = field(default_factory=dict)
    explanations: Records = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.decisions or self.explanations)
