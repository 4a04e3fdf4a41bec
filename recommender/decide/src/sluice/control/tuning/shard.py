"""The tuning sessions of one shard: what is known of them, and the step that is under way.

What takes long (reading what was measured, a method's question) is done in the background; a control period only asks
what came of it, for which it waits QUICK_S where somebody waits for an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from sluice.control.tuning.measure import Measured, Span, ended, spans
from sluice.control.tuning.step import stepped
from sluice.model.problems import Problems
from sluice.tuning.names import TrialName
from sluice.tuning.records import KnownSessions, TuningCommit
from sluice.tuning.v1 import log_pb2

# How often trials in force are measured.
MEASURE_MS = 1_000
QUICK_S = 0.05


class Source(Protocol):
    """Raises what the database raises."""

    def measured(self, asked: Mapping[TrialName, Span], now_ms: int) -> Mapping[TrialName, Measured]: ...


@dataclass
class TuningMeans:
    """What a decider has for the tuning sessions of all of its shards. background: runs one thing at a time."""

    source: Source
    background: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="tuning"))

    def close(self) -> None:
        self.background.shutdown(wait=False, cancel_futures=True)


class Proposal(NamedTuple):
    """What is known once it is committed. problem: of measuring; commands went on without it."""

    known: KnownSessions
    commit: TuningCommit
    problem: Exception | None


class ShardTuning:
    """`hear` and `period`, then the commit, then `keep` or `drop`."""

    def __init__(self, known: KnownSessions, means: TuningMeans | None, problems: Problems) -> None:
        """means: None where nothing is to be decided."""
        self._known, self._means, self._problems = known, means, problems
        self._waiting: dict[str, log_pb2.Command] = {}
        self._asked: dict[str, log_pb2.Command] = {}
        """By id: commands that no step was begun with, and those of the step that is under way."""
        self._answered = {each.request_id for each in known.answers}
        self._job: Future[Proposal] | None = None
        self._proposal: Proposal | None = None
        self._due_ms = 0
        self._failed = False
        """The last step: it is tried again with the next period, and does not begin one by itself."""

    @property
    def known(self) -> KnownSessions:
        return self._known

    def hear(self, commands: Sequence[log_pb2.Command]) -> bool:
        """The same come again until they are committed. True: a period is to be made of it."""
        if self._means is None:
            return False
        new = [each for each in commands if each.request_id not in self._waiting.keys() | self._asked.keys()]
        self._waiting |= {each.request_id: each for each in new if each.request_id not in self._answered}
        idle = self._job is None and self._proposal is None
        return bool(self._waiting) and not self._failed if idle else self._job is not None and self._job.done()

    def period(self, commands: Sequence[log_pb2.Command], now_ms: int) -> TuningCommit | None:
        """What is to be committed with this period."""
        self.hear(commands)
        if self._means is None:
            return None
        if self._proposal is None and self._job is None:
            self._begin(self._means, now_ms)
        if self._job is not None and self._job.done():
            job, self._job = self._job, None
            self._take(job)
        return None if self._proposal is None else self._proposal.commit

    def keep(self) -> None:
        """It was committed."""
        if self._proposal is not None:
            self._known, self._proposal = self._proposal.known, None
            self._answered = {each.request_id for each in self._known.answers} | self._asked.keys()
            self._asked = {}

    def drop(self) -> None:
        """It was aborted: it is made again."""
        if self._proposal is not None:
            self._proposal, self._due_ms = None, 0
            self._again()

    def _begin(self, means: TuningMeans, now_ms: int) -> None:
        measuring = now_ms >= self._due_ms and any(each.flying for each in self._known.sessions.values())
        if not self._waiting and not measuring:
            return
        if measuring:
            self._due_ms = now_ms + MEASURE_MS
        self._asked, self._waiting, self._failed = self._waiting, {}, False
        commands = list(self._asked.values())
        self._job = means.background.submit(_work, self._known, commands, means.source if measuring else None, now_ms)
        if commands:
            wait([self._job], QUICK_S)

    def _take(self, job: Future[Proposal]) -> None:
        try:
            proposal = job.result()
        except Exception as cause:
            self._problems.failed("tuning sessions", cause)
            self._failed = True
            self._again()
            return
        self._problems.succeeded("tuning sessions")
        if proposal.problem is not None:
            self._problems.failed("measuring of trials", proposal.problem)
        else:
            self._problems.succeeded("measuring of trials")
        if proposal.commit:
            self._proposal = proposal
        else:
            self._known = proposal.known
            self._asked = {}

    def _again(self) -> None:
        self._waiting, self._asked = {**self._asked, **self._waiting}, {}


def _work(known: KnownSessions, commands: Sequence[log_pb2.Command], source: Source | None, now_ms: int) -> Proposal:
    problem: Exception | None = None
    outcomes = {}
    asked = spans(known.sessions) if source is not None else {}
    if source is not None and asked:
        try:
            seen = source.measured(asked, now_ms)
        except Exception as cause:
            problem = cause
        else:
            for trial, measured in seen.items():
                session = known.sessions[trial.session]
                outcome = ended(session, session.trials[trial.number], measured)
                if outcome is not None:
                    outcomes[trial] = outcome
    return Proposal(*stepped(known, commands, outcomes, now_ms), problem)
