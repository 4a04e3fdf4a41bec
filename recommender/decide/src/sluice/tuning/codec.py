"""Journal records of tuning sessions: a commit as writes, a shard's records at takeover, and commands
(collector/topics.yaml)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.message import DecodeError, Message

from sluice.journal.broker import Record
from sluice.journal.codec import Input, UnreadableError, Write, check_key, log_skipped, message_write
from sluice.journal.names import Topics
from sluice.tuning.names import ANSWERS, SESSION, TRIAL, is_tuning, session_of, trial_of
from sluice.tuning.records import KnownSessions, TuningCommit
from sluice.tuning.session.message import SessionError, read_message
from sluice.tuning.session.session import Session
from sluice.tuning.v1 import log_pb2, session_pb2, trial_pb2


class TuningCodec:
    def owns(self, key: str) -> bool:
        return is_tuning(key)

    def part(
        self, states: Mapping[str, bytes], decisions: Mapping[str, bytes], observed: Mapping[str, Any]
    ) -> tuple[KnownSessions, int]:
        return read_records(decisions)

    def observed(self, record: Record) -> Input:
        raise UnreadableError(f"read {record.key}: tuning sessions have no observed sizes")

    def report(self, record: Record) -> Input | None:
        # The answer in the session identifies a repeat.
        return Input(command(record), None)

    def writes(self, part: TuningCommit, topics: Topics) -> Iterator[Write | ValueError]:
        for topic, name, message in records(part, topics):
            yield message_write(topic, name, message)


def records(commit: TuningCommit, topics: Topics) -> Iterator[tuple[str, str, Message | None]]:
    """Topic, key and value. A value of None deletes the record."""
    for name, value in commit.explanations.items():
        yield topics.explanations, name, value
    for name, value in commit.decisions.items():
        yield topics.decisions, name, value


def command(record: Record) -> log_pb2.Command:
    """Reads a command. UnreadableError where it is none."""
    try:
        return log_pb2.Command.FromString(record.value or b"")
    except DecodeError as cause:
        raise UnreadableError(f"a command of {record.key}: {cause}") from cause


def read_records(decisions: Mapping[str, bytes]) -> tuple[KnownSessions, int]:
    """What the records say, and how many could not be read. Ignores records that are not about tuning.

    A session with a trial that cannot be read is left out as a whole. Its method would otherwise propose from a part of
    the trials.
    """
    left_out = 0
    heads: dict[str, session_pb2.TuningSession] = {}
    trials: dict[str, list[trial_pb2.Trial]] = defaultdict(list)
    answers: tuple[log_pb2.Answer, ...] = ()
    for name, value in decisions.items():
        try:
            if name.startswith(SESSION):
                record = log_pb2.SessionRecord.FromString(value)
                check_key(name, session_of(name), record.head.plan.name)
                heads[record.session] = record.head
            elif name.startswith(TRIAL):
                record = log_pb2.SessionRecord.FromString(value)
                check_key(name, trial_of(name), (record.session, record.trial.number))
                trials[record.session].append(record.trial)
            elif name.startswith(ANSWERS):
                answers = tuple(log_pb2.Answers.FromString(value).answers)
        except (DecodeError, ValueError) as cause:
            left_out += 1
            log_skipped(f"{name}: {cause}")
    sessions: dict[str, Session] = {}
    for name, head in heads.items():
        head.trials.extend(sorted(trials[name], key=lambda trial: trial.number))
        try:
            sessions[name] = read_message(head)
        except SessionError as cause:
            left_out += 1
            log_skipped(cause)
    return KnownSessions(sessions, answers), left_out
