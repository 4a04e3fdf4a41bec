"""The tuning sessions of one shard: their published state, and the step in progress.

Everything slow (reading measurements, a method's proposal) runs in the background. A period only collects the results.
It waits for QUICK_S where a caller waits for an answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from sluice.engine.product import ProductShard, Proposal, Takeover
from sluice.engine.records import Heartbeat, Received
from sluice.model.problems import Problems
from sluice.tuning.codec import TuningCodec
from sluice.tuning.measure import MeasuredSpan, TrialMeasurement, ended, spans
from sluice.tuning.names import TrialName
from sluice.tuning.records import KnownSessions, TuningCommit
from sluice.tuning.session.step import OPEN
from sluice.tuning.step import stepped
from sluice.tuning.v1 import log_pb2

# The interval between measurements of trials in force.
MEASURE_MS = 1_000
QUICK_S = 0.05


class TrialSource(Protocol):
    """Reads from the database. Raises the database's errors."""

    def measured(
        self, spans: Mapping[TrialName, MeasuredSpan], now_ms: int
    ) -> Mapping[TrialName, TrialMeasurement]: ...


@dataclass
class TuningResources:
    """The resources of a decider for the tuning sessions of all of its shards. background: runs one job at a time."""

    source: TrialSource
    background: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="tuning"))

    def close(self) -> None:
        self.background.shutdown(wait=False, cancel_futures=True)


class SessionsStep(NamedTuple):
    """known: the state once `commit` is committed. problem: a failed measurement; commands were executed without it."""

    known: KnownSessions
    commit: TuningCommit
    problem: Exception | None


class TuningProduct:
    """resources: None in a process that decides no sessions."""

    name, codec = "tuning", TuningCodec()

    def __init__(
        self,
        resources: TuningResources | None,
        problems: Problems,
        overdue: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        """overdue: gets the seconds since a trial in flight was due, of the oldest; 0 without one."""
        self._resources, self._problems, self._overdue = resources, problems, overdue

    def start(self, config: Any) -> None:
        pass

    def restore(self, takeover: Takeover) -> TuningShard:
        return TuningShard(takeover.part, self._resources, self._problems)

    def measure(self, shards: Iterable[ProductShard]) -> None:
        sessions = (each for part in shards if isinstance(part, TuningShard) for each in part.known.sessions.values())
        due_ms = [trial.due_ms for session in sessions if session.phase in OPEN for trial in session.flying]
        self._overdue(max(0.0, time.time() - min(due_ms) / 1e3) if due_ms else 0.0)

    def close(self) -> None:
        if self._resources is not None:
            self._resources.close()


class TuningShard:
    independent = False

    def __init__(self, known: KnownSessions, resources: TuningResources | None, problems: Problems) -> None:
        """resources: None in a process that decides nothing."""
        self._known, self._resources, self._problems = known, resources, problems
        self._waiting: dict[str, log_pb2.Command] = {}
        self._asked: dict[str, log_pb2.Command] = {}
        """By id: commands that wait for a step, and those of the step in progress."""
        self._answered = {answer.request_id for answer in known.answers}
        self._job: Future[SessionsStep] | None = None
        self._proposal: SessionsStep | None = None
        self._due_ms = 0
        self._failed = False
        """Whether the last step failed. It runs again with the next period, and does not cause a period by itself."""

    @property
    def known(self) -> KnownSessions:
        return self._known

    def configure(self, config: Any) -> None:
        pass

    def hear(self, received: Received, now_ms: int) -> bool:
        """Takes commands. True: they need a period now."""
        if self._resources is None:
            return False
        commands = [report for report in received.reports if isinstance(report, log_pb2.Command)]
        pending = self._waiting.keys() | self._asked.keys() | self._answered
        self._waiting |= {command.request_id: command for command in commands if command.request_id not in pending}
        idle = self._job is None and self._proposal is None
        return bool(self._waiting) and not self._failed if idle else self._job is not None and self._job.done()

    def propose(self, received: Received, now_ms: int) -> Proposal:
        self.hear(received, now_ms)
        if self._resources is None:
            return Proposal()
        if self._proposal is None and self._job is None:
            self._begin(self._resources, now_ms)
        if self._job is not None and self._job.done():
            job, self._job = self._job, None
            self._take(job)
        return Proposal(None if self._proposal is None else self._proposal.commit)

    def committed(self, heartbeat: Heartbeat, written: bool) -> None:
        if self._proposal is not None:
            self._known, self._proposal = self._proposal.known, None
            self._answered = {answer.request_id for answer in self._known.answers} | self._asked.keys()
            self._asked = {}

    def aborted(self) -> None:
        """The step runs again."""
        if self._proposal is not None:
            self._proposal, self._due_ms = None, 0
            self._again()

    def _begin(self, resources: TuningResources, now_ms: int) -> None:
        measuring = now_ms >= self._due_ms and any(session.flying for session in self._known.sessions.values())
        if not self._waiting and not measuring:
            return
        if measuring:
            self._due_ms = now_ms + MEASURE_MS
        self._asked, self._waiting, self._failed = self._waiting, {}, False
        commands = list(self._asked.values())
        self._job = resources.background.submit(
            _work, self._known, commands, resources.source if measuring else None, now_ms
        )
        if commands:
            wait([self._job], QUICK_S)

    def _take(self, job: Future[SessionsStep]) -> None:
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


def _work(
    known: KnownSessions, commands: Sequence[log_pb2.Command], source: TrialSource | None, now_ms: int
) -> SessionsStep:
    problem: Exception | None = None
    outcomes = {}
    wanted = spans(known.sessions) if source is not None else {}
    if source is not None and wanted:
        try:
            measurements = source.measured(wanted, now_ms)
        except Exception as cause:
            problem = cause
        else:
            for trial, measured in measurements.items():
                session = known.sessions[trial.session]
                outcome = ended(session, session.trials[trial.number], measured)
                if outcome is not None:
                    outcomes[trial] = outcome
    return SessionsStep(*stepped(known, commands, outcomes, now_ms), problem)
