"""Commands that no honest caller sends. The server lets most of their fields through: what a plan means is this code's
to judge, and a command that stopped it would stop every session for as long as the journal has it."""

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluice.tuning.codec import read_records
from sluice.tuning.records import KnownSessions
from sluice.tuning.session.message import plan_message
from sluice.tuning.step import stepped
from sluice.tuning.v1.log_pb2 import Command
from sluice.tuning.v1.session_pb2 import Plan
from sluice_kit.hostile import messages

from .runs import PLAN

GOOD = plan_message(PLAN)
LEGAL = {
    "name": ["first", "second", "threads", "spare"],
    "session": ["first"],
    "parameter": ["threads", "spare", "x"],
    "target": ["shop"],
    "method": ["dds", "tpe", "genetic", "random_search", "gaussian_process"],
    "budget": [4],
    "parallel": [1, 2],
    "pairs": [0, 2],
    "patience_ms": [600_000],
    "trial": [0, 1],
    "verdict": [1, 2, 3],
    "count": [1, 3],
    "warm_start": ["", "first"],
    "low": [1],
    "high": [64],
    "choices": ["a", "b"],
    "metric": [1, 2],
    "weight": [1.0],
}


def opened() -> KnownSessions:
    """A session with a trial in flight."""
    create, ask = Command(request_id="create"), Command(request_id="ask")
    create.create.plan.CopyFrom(GOOD)
    ask.ask.session, ask.ask.count = "first", 1
    known, _ = stepped(KnownSessions({}, []), [create, ask], {}, 1_000)
    assert len(known.sessions["first"].trials) == 1
    return known


KNOWN = opened()


@st.composite
def altered(draw: st.DrawFn) -> Command:
    """A legal creation with some fields of one part replaced: the checks of a plan stop at the first part at fault."""
    command = Command(request_id="altered")
    plan = command.create.plan
    plan.CopyFrom(GOOD)
    plan.name, plan.target = "second", "other"
    part = draw(st.sampled_from(("plan", "space", "objective", "window", "root", "first", "parameter", "constraint")))
    random = draw(messages(Plan, LEGAL))
    match part:
        case "plan":
            for field in random.DESCRIPTOR.fields:
                if field.message_type is None and draw(st.booleans()):
                    setattr(plan, field.name, getattr(random, field.name))
        case "first":
            plan.first.extend(random.first)
        case "parameter" if random.space.parameters:
            plan.space.parameters[draw(st.integers(0, 5))].MergeFrom(random.space.parameters[0])
        case "constraint":
            plan.space.constraints.extend(random.space.constraints)
        case "space" | "objective" | "window" | "root":
            getattr(plan, part).CopyFrom(getattr(random, part))
    return command


@settings(
    max_examples=int(os.environ.get("SLUICE_HOSTILE_EXAMPLES", "60")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(messages(Command, LEGAL) | altered())
def test_a_command_is_answered_and_its_records_can_be_read_again(command: Command) -> None:
    known, commit = stepped(KNOWN, [command], {}, 2_000)
    answer = known.answers[-1]
    assert answer.request_id == command.request_id
    assert answer.refusal.code != "INTERNAL", answer.refusal.why
    assert len(answer.SerializeToString()) < 20_000
    written = {name: value.SerializeToString() for name, value in commit.decisions.items() if value is not None}
    read, unreadable = read_records(written)
    assert unreadable == 0
    for name in read.sessions.keys() - KNOWN.sessions.keys():
        assert read.sessions[name] == known.sessions[name]
        ask = Command(request_id="next")
        ask.ask.session, ask.ask.count = name, 1
        after, _ = stepped(read, [ask], {}, 3_000)
        assert after.answers[-1].refusal.code != "INTERNAL", after.answers[-1].refusal.why
