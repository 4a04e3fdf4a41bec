from dataclasses import fields, replace
from math import inf, nan

import pytest
from hypothesis import HealthCheck, given, settings

from sluice.model.keys import PoolKey
from sluice.pools.estimate.belief.doubt import Doubt
from sluice.pools.estimate.belief.evidence import Evidence, Level, Second
from sluice.pools.policy.decision import Advice, Basis
from sluice.pools.policy.need import Peak
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState, Standing
from sluice.pools.policy.state_message import (
    StateError,
    joined,
    read_evidence,
    read_facts,
    write_evidence,
    write_facts,
)
from sluice.pools.policy.trust import OperatorLook, RefusedSize, SizeRecord, Trust
from sluice.pools.policy.waits import Waits
from sluice.pools.v1 import pool_size_pb2
from sluice.pools.v1.state_pb2 import PoolEvidence, PoolFacts
from sluice_kit.decide.states import keys, states

SHOP = PoolKey("shop", "server", "")
LEVEL = Level(cores=4.0, full=True, saturated=False, step=46, completions=2_000.0, seconds=4.0, in_flight_s=40.0)
SECOND = Second(cores=4.0, full=True, saturated=True, concurrency=10.0, completions=100.0, seconds=1.0)
STATE = PoolState(
    Facts(now_ms=1_700_000_000_123, current=10, change=Change(12, 10, 1_699_999_999_000, Basis.PROBE), baseline=12),
    Learnt(
        version="v2",
        evidence=Evidence((LEVEL,)),
        doubt=Doubt(2.5, (SECOND,)),
        until_ms=1_699_999_999_900,
        full=(1.0, 0.9),
        completed_ms=1_699_999_999_800,
        remembered=True,
        versions=(("v1", Evidence((LEVEL, LEVEL))),),
    ),
)


def read(key: PoolKey, facts: bytes, evidence: bytes) -> PoolState:
    return joined(read_facts(key, facts), read_evidence(key, evidence))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(key=keys, state=states)
def test_what_is_written_is_read_as_the_same_value(key: PoolKey, state: PoolState) -> None:
    assert read(key, write_facts(key, state), write_evidence(key, state)) == state


def test_a_record_of_a_version_with_agents_is_read() -> None:
    """Basis 6 was LEARNED, and field 7 the checkpoint of an agent."""
    change = Change(20, 24, 5_000, Basis.CURVE)
    message = PoolFacts.FromString(write_facts(SHOP, PoolState(Facts(change=change))))
    message.change.basis = 6  # type: ignore[assignment]
    data = message.SerializeToString() + b"\x3a\x07" + b"\x0a\x05a.dqn"
    assert read_facts(SHOP, data) == Facts(change=change)


@pytest.mark.parametrize(
    "each",
    [
        Facts,
        Change,
        Learnt,
        Level,
        Doubt,
        Second,
        PoolState,
        Standing,
        Advice,
        Trust,
        SizeRecord,
        RefusedSize,
        OperatorLook,
        Peak,
        Waits,
    ],
)
def test_every_field_is_generated(each: type) -> None:
    """A field that the messages do not know would pass the round trip by its default."""
    known = {
        Facts: "now_ms current change baseline state trust",
        Change: "from_size to_size at_ms basis targets",
        Learnt: "version evidence doubt until_ms full completed_ms remembered versions standing peaks waits",
        Standing: "until_ms short spare cores replicas advice",
        Advice: "kind since_ms asked_per_s in_time best best_per_s cores replicas to_cores to_replicas",
        Level: "cores full saturated step completions seconds in_flight_s",
        Doubt: "score aside",
        Second: "cores full saturated concurrency completions seconds",
        PoolState: "facts learnt",
        Trust: "operator since_ms measured refused check demand_per_s demand_until_ms given_up_ms times",
        SizeRecord: "size per_s stay_s failed cores lag_ms",
        RefusedSize: "size from_size until_ms times",
        OperatorLook: "at_ms per_s",
        Peak: "hour_ms per_s",
        Waits: "evidence_s mean_s own_s carried_ms",
    }
    # What is not compared is made again.
    names = each._fields if each in (Level, Peak, Waits) else [field.name for field in fields(each) if field.compare]
    assert " ".join(names) == known[each]


def test_the_newest_time_stands_in_either_part() -> None:
    """Facts are written when they change: the evidence of an hour later says how late it was."""
    later = replace(STATE, facts=replace(STATE.facts, now_ms=STATE.facts.now_ms + 3_600_000))
    found = read(SHOP, write_facts(SHOP, STATE), write_evidence(SHOP, later))
    assert found == later
    assert joined(None, read_evidence(SHOP, write_evidence(SHOP, later))).facts == Facts(now_ms=later.facts.now_ms)
    assert joined(STATE.facts, None) == PoolState(STATE.facts)


def test_fields_of_a_later_version_are_ignored() -> None:
    unknown = b"\xfa\x7f\x05later" + b"\xf8\x7f\x07"  # fields 2047: five bytes, and a number
    assert read(SHOP, write_facts(SHOP, STATE) + unknown, write_evidence(SHOP, STATE) + unknown) == STATE


def facts_message() -> PoolFacts:
    message = PoolFacts()
    message.ParseFromString(write_facts(SHOP, STATE))
    return message


def evidence_message() -> PoolEvidence:
    message = PoolEvidence()
    message.ParseFromString(write_evidence(SHOP, STATE))
    return message


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("current", 0, "current 0 is not legal; legal: 1 to"),
        ("baseline", 0, "baseline 0"),
        ("change.from_size", 0, "change.from_size 0"),
        ("change.to_size", 0, "change.to_size 0"),
        ("change.basis", pool_size_pb2.BASIS_UNSPECIFIED, "change.basis 0 is not legal; legal: CURVE"),
        ("change.basis", 99, "change.basis 99"),
        ("change.at.seconds", -1, "change.at -1000 ms is not legal; legal: 1970"),
        ("now.seconds", 9_214_646_400, "now 9214646400123 ms"),
        ("now.nanos", -5, "-5 ns"),
        ("pool.service", "cart", "of another pool"),
        ("pool.peer", "db", "of another pool"),
    ],
)
def test_facts_that_are_not_legal_name_the_pool_and_the_number(path: str, value: object, says: str) -> None:
    message = facts_message()
    *parents, name = path.split(".")
    holder = message
    for parent in parents:
        holder = getattr(holder, parent)
    setattr(holder, name, value)
    with pytest.raises(StateError, match=f"^read facts of shop/server: .*{says}"):
        read_facts(SHOP, message.SerializeToString())


@pytest.mark.parametrize("value", [0.0, -1.0, nan, inf])
@pytest.mark.parametrize("name", ["completions", "seconds", "in_flight_s"])
def test_sums_whose_logarithm_is_none_are_not_legal(name: str, value: float) -> None:
    for of in (lambda m: m.levels[0], lambda m: m.other_versions[0].levels[1]):
        message = evidence_message()
        setattr(of(message), name, value)
        with pytest.raises(StateError, match=r"^read evidence of shop/server: levels"):
            read_evidence(SHOP, message.SerializeToString())


@pytest.mark.parametrize(
    ("learnt", "says"),
    [
        (Learnt(until_ms=-2), "until -2 ms"),
        (Learnt(completed_ms=-1), "completed -1 ms"),
        (Learnt(full=(1.1,)), "full_shares 1.1 is not legal; legal: 0 to 1"),
        (Learnt(doubt=Doubt(nan)), "doubt_score nan"),
        (Learnt(doubt=Doubt(0.0, (replace(SECOND, concurrency=0.0),))), "doubted: 0.0"),
        (Learnt(evidence=Evidence((LEVEL._replace(step=2**31),))), "levels: step"),
        (Learnt(evidence=Evidence((LEVEL._replace(cores=-1.0),))), "levels: cores"),
        (Learnt(evidence=Evidence((LEVEL._replace(cores=nan),))), "levels: cores"),
        (Learnt(version="\ud800"), "surrogates"),
        (Learnt(peaks=(Peak(-1, 1.0),)), "peaks: hour -1 ms"),
        (Learnt(peaks=(Peak(0, inf),)), "peaks: per_s inf"),
    ],
)
def test_what_could_not_be_read_is_not_written(learnt: Learnt, says: str) -> None:
    with pytest.raises(StateError, match=f"^write evidence of shop/server: .*{says}"):
        write_evidence(SHOP, PoolState(Facts(), learnt))


MEASURED = SizeRecord(32, 100.0, 0.25, 0.0, 4.0, 2_000)


@pytest.mark.parametrize(
    ("trust", "says"),
    [
        (Trust(operator=0), "trust.operator_size 0"),
        (Trust(since_ms=-1), "trust.since -1 ms"),
        (Trust(demand_per_s=nan), "trust.demand_per_s nan"),
        (Trust(demand_until_ms=-1), "trust.demand_until -1 ms"),
        (Trust(given_up_ms=9_214_646_400_000), "trust.given_up_until 9214646400000 ms"),
        (Trust(times=-1), "trust.given_up_times -1"),
        (Trust(measured=(replace(MEASURED, size=0),)), "trust.measured.size 0"),
        (Trust(measured=(replace(MEASURED, per_s=-1.0),)), "trust.measured.per_s -1.0"),
        (Trust(measured=(replace(MEASURED, stay_s=inf),)), "trust.measured.stay_s inf"),
        (Trust(measured=(replace(MEASURED, failed=1.1),)), "trust.measured.failed 1.1 is not legal; legal: 0 to 1"),
        (Trust(measured=(replace(MEASURED, cores=nan),)), "trust.measured.cores nan"),
        (Trust(measured=(replace(MEASURED, lag_ms=-1),)), "trust.measured.lag_ms -1"),
        (Trust(refused=(RefusedSize(0, 32, 1),)), "trust.refused.size 0"),
        (Trust(refused=(RefusedSize(16, 0, 1),)), "trust.refused.from_size 0"),
        (Trust(refused=(RefusedSize(16, 32, -1),)), "trust.refused.until -1 ms"),
        (Trust(refused=(RefusedSize(16, 32, 1, -1),)), "trust.refused.times -1"),
        (Trust(check=OperatorLook(-1, 1.0)), "trust.checked -1 ms"),
        (Trust(check=OperatorLook(1, nan)), "trust.checked_per_s nan"),
    ],
)
def test_what_the_guard_cannot_know_is_neither_written_nor_read(trust: Trust, says: str) -> None:
    with pytest.raises(StateError, match=f"^write facts of shop/server: .*{says}"):
        write_facts(SHOP, PoolState(Facts(trust=trust)))


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("trust.operator_size", 0, "trust.operator_size 0"),
        ("trust.demand_per_s", nan, "trust.demand_per_s nan"),
        ("trust.checked_per_s", -1.0, "trust.checked_per_s -1.0"),
        ("trust.since.seconds", -1, "trust.since -"),
    ],
)
def test_numbers_of_the_guard_that_are_not_legal_are_not_taken_up(path: str, value: object, says: str) -> None:
    facts = replace(STATE.facts, trust=Trust(operator=32, since_ms=1_000, check=OperatorLook(1_000, 10.0)))
    message = PoolFacts()
    message.ParseFromString(write_facts(SHOP, PoolState(facts)))
    holder = message.trust
    *parents, name = path.split(".")[1:]
    for parent in parents:
        holder = getattr(holder, parent)
    setattr(holder, name, value)
    with pytest.raises(StateError, match=f"^read facts of shop/server: .*{says}"):
        read_facts(SHOP, message.SerializeToString())


def test_a_size_of_0_is_not_written() -> None:
    with pytest.raises(StateError, match="write facts of shop/client/db: current 0"):
        write_facts(PoolKey("shop", "client", "db"), PoolState(Facts(current=0)))


@pytest.mark.parametrize("value", [b"", b"\x0a", b"not a message at all", write_facts(SHOP, STATE)[:-3]])
def test_bytes_that_are_no_message_are_an_error_that_names_the_pool(value: bytes) -> None:
    with pytest.raises(StateError, match=r"^read facts of shop/server: "):
        read_facts(SHOP, value)
    with pytest.raises(StateError, match=r"^read evidence of shop/server: "):
        read_evidence(SHOP, value)
