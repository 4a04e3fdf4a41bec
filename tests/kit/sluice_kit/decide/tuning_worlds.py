"""A decider of tuning sessions on a log in memory: what trials measure is set by hand, time is the test's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from sluice.journal.broker import Record
from sluice.model.problems import Problems
from sluice.model.times import timestamp
from sluice.pools.period.resources import PoolResources
from sluice.tuning.codec import read_records
from sluice.tuning.measure import MeasuredSpan, TrialMeasurement
from sluice.tuning.names import ANSWERS, SESSION, TRIAL, TrialName, session_name
from sluice.tuning.objective.block import Block, Metric
from sluice.tuning.objective.enough import TrialLength
from sluice.tuning.objective.message import write_outcome
from sluice.tuning.objective.objective import Objective, TuningSlo
from sluice.tuning.objective.outcome import Outcome, TrialVerdict
from sluice.tuning.product import TuningResources
from sluice.tuning.session.message import plan_message
from sluice.tuning.session.session import MeasuredRoot, Plan, Session
from sluice.tuning.v1 import log_pb2, tuning_service_pb2
from sluice_kit.decide.fakes import AtOnce, FakeClock, FakeCollector, config
from sluice_kit.decide.spaces import MIXED, mixed_loss
from sluice_kit.journal.memory_log import MemoryLog

__all__ = ["ANSWERS", "SESSION", "TRIAL", "FakeTrials", "TuningWorld", "index_of", "plan"]


def plan(**changes: object) -> Plan:
    objective = Objective(((Metric.P95, 1.0),), (TuningSlo(Metric.P99, 900.0),))
    window = TrialLength(2.0, 5.0, 12.0, 0.5)
    given = Plan("first", "shop", MIXED, objective, seed=7, budget=4, pairs=2, window=window, root=MeasuredRoot("web"))
    return replace(given, **changes)  # type: ignore[arg-type]


def index_of(ms: float) -> int:
    """The latency index that a time falls into."""
    from math import ceil, log2

    return ceil(64 * log2(ms * 1e6)) - 1


@dataclass
class FakeTrials:
    """What the pipeline saw: 100 requests a second that take `ms` of each trial; raises `problem`."""

    ms: dict[int, float] = field(default_factory=dict)
    usual_ms: float = 100.0
    problem: Exception | None = None
    requests: list[set[TrialName]] = field(default_factory=list)

    def measured(self, spans: Mapping[TrialName, MeasuredSpan], now_ms: int) -> dict[TrialName, TrialMeasurement]:
        self.requests.append(set(spans))
        if self.problem is not None:
            raise self.problem
        return {trial: self._one(trial.number, span, now_ms) for trial, span in spans.items()}

    def _one(self, number: int, span: MeasuredSpan, now_ms: int) -> TrialMeasurement:
        upto_ms = min(now_ms, span.to_ms)
        ms = self.ms.get(number, self.usual_ms)
        seconds = max(0, upto_ms - span.from_ms) // 1000
        return TrialMeasurement([Block(1.0, {index_of(ms): 100})] * seconds, now_ms >= span.to_ms)


@dataclass
class TuningWorld:
    source: FakeTrials = field(default_factory=FakeTrials)
    clock: FakeClock = field(default_factory=FakeClock)
    log: MemoryLog = field(default_factory=MemoryLog)
    problems: Problems = field(default_factory=Problems)
    numbers: count[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        pools, tuning = (
            PoolResources(problems=self.problems, background=AtOnce()),
            TuningResources(self.source, AtOnce()),
        )
        self.loop = self.log.loop(config(), FakeCollector(), self.clock, pools, tuning=tuning)

    def again(self) -> TuningWorld:
        """Another decider, after this one was killed."""
        return replace(self)

    def pass_s(self, seconds: float) -> None:
        for _ in range(round(seconds)):
            self.clock.pass_s(1)
            self.loop.periods()

    def write(self, command: log_pb2.Command, session: str) -> str:
        """As a server writes it; its id."""
        command.request_id = command.request_id or f"call {next(self.numbers)}"
        command.received.CopyFrom(timestamp(self.clock()))
        self.log.put(self.log.topics.reports, session_name(session), command)
        return command.request_id

    def call(self, command: log_pb2.Command, session: str = "first") -> log_pb2.Answer:
        request_id = self.write(command, session)
        self.clock.pass_s(1)
        self.loop.periods()
        return self.answer(request_id)

    def answer(self, request_id: str) -> log_pb2.Answer:
        (answer,) = [candidate for candidate in self.answers if candidate.request_id == request_id]
        return answer

    def create(self, wanted: Plan, warm_start: str = "") -> log_pb2.Answer:
        request = tuning_service_pb2.CreateSessionRequest(plan=plan_message(wanted), warm_start=warm_start)
        return self.call(log_pb2.Command(create=request), wanted.name)

    def ask(self, session: str = "first", count: int = 1, request_id: str = "") -> log_pb2.Answer:
        request = tuning_service_pb2.AskTrialsRequest(session=session, count=count, request_id=request_id)
        return self.call(log_pb2.Command(ask=request), session)

    def tell(self, trial: int, outcome: Outcome, session: str = "first") -> log_pb2.Answer:
        request = tuning_service_pb2.TellTrialRequest(session=session, trial=trial, outcome=write_outcome(outcome))
        return self.call(log_pb2.Command(tell=request), session)

    def good(self, trial: int, session: str = "first") -> log_pb2.Answer:
        configuration = self.sessions[session].trials[trial].configuration
        return self.tell(trial, Outcome(TrialVerdict.GOOD, 100.0 + mixed_loss(configuration)), session)

    def applied(self, trial: int, session: str = "first") -> log_pb2.Answer:
        request = tuning_service_pb2.TellTrialRequest(session=session, trial=trial, applied_at=timestamp(self.clock()))
        return self.call(log_pb2.Command(tell=request), session)

    def stop(self, session: str = "first", why: str = "") -> log_pb2.Answer:
        request = tuning_service_pb2.StopSessionRequest(session=session, why=why)
        return self.call(log_pb2.Command(stop=request), session)

    @property
    def sessions(self) -> Mapping[str, Session]:
        """In the journal."""
        return read_records(self.log.committed(self.log.topics.decisions))[0].sessions

    @property
    def answers(self) -> list[log_pb2.Answer]:
        return list(read_records(self.log.committed(self.log.topics.decisions))[0].answers)

    def records(self, word: str) -> list[Record]:
        """All that were ever committed under a word."""
        partition = self.log.cluster.partitions[self.log.topics.decisions, 0]
        return [record for record in partition.committed(0) if record.key.startswith(word)]
