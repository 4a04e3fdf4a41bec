"""What the log of states costs: a minute of 10,000 pools, recorded to a real broker, and restored from it."""

import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from sluice.core.keys import PoolKey
from sluice.log.due import EVERY_MS
from sluice.log.kafka import TOPIC, KafkaStateLog
from sluice.log.record import Ref, value_of
from sluice.pools.estimate.belief.evidence import Evidence, Second
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from support.kafka import kafka

POOLS, QUICK_POOLS = 10_000, 1_000
PERIOD_MS = 10_000
BEGIN_MS = 1_800_000_000_000
SECONDS_SEEN = 300
WAIT_S = 120.0


def state(number: int) -> PoolState:
    """Of a pool that was seen at twelve sizes under two CPU limits, and in another version before."""
    draw = random.Random(number)
    evidence = Evidence()
    for _ in range(SECONDS_SEEN):
        size, full = draw.choice([4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 40, 50]), draw.random() < 0.6
        in_flight = size if full else size * draw.uniform(0.2, 0.7)
        seen = Second(draw.choice([2.0, 4.0]), full, full, in_flight, draw.uniform(50, 500), 1.0)
        evidence = evidence.with_second(seen)
    facts = Facts(BEGIN_MS, current=10, change=Change(8, 10, BEGIN_MS, Basis.PROBE), baseline=8)
    return PoolState(facts, Learnt(version="v2", evidence=evidence, full=(1.0,) * 5, versions=(("v1", evidence),)))


def run(quick: bool) -> list[tuple[str, str]]:
    pools = QUICK_POOLS if quick else POOLS
    made = [state(number) for number in range(20)]
    states = {PoolKey(f"service-{each}", "server", ""): made[each % len(made)] for each in range(pools)}
    with tempfile.TemporaryDirectory() as folder, kafka(Path(folder)) as broker:
        broker.topic(TOPIC, like=TOPIC)
        log = KafkaStateLog(broker.bootstrap)
        log.start()
        log.restore()
        log.record(states)
        begun = time.perf_counter()
        assert log.flush(WAIT_S)
        first_s = time.perf_counter() - begun
        spent_s, waited_s = [], []
        for now_ms in range(BEGIN_MS + PERIOD_MS, BEGIN_MS + EVERY_MS + 1, PERIOD_MS):
            states = {key: later(each, now_ms) for key, each in states.items()}
            begun = time.perf_counter()
            log.record(states)
            recorded = time.perf_counter()
            assert log.flush(WAIT_S)
            spent_s.append(recorded - begun)
            waited_s.append(time.perf_counter() - recorded)
        assert log.close(WAIT_S)
        begun = time.perf_counter()
        restored = KafkaStateLog(broker.bootstrap).restore()
        restored_s = time.perf_counter() - begun
    assert restored.keys() == states.keys()
    return [
        ("pools", f"{pools:,}"),
        ("facts of a pool", f"{mean_bytes(made, 'facts'):,.0f} bytes"),
        ("its evidence, with that of another version", f"{mean_bytes(made, 'evidence'):,.0f} bytes"),
        ("facts and evidence of all pools at once", f"{first_s:.1f} s"),
        (f"`record` in a period of {PERIOD_MS // 1_000} s, the longest", f"{max(spent_s) * 1e3:.0f} ms"),
        ("until that is stored, the longest", f"{max(waited_s) * 1e3:.0f} ms"),
        ("`restore`", f"{restored_s:.1f} s"),
    ]


def later(state: PoolState, now_ms: int) -> PoolState:
    """Nothing but new windows came."""
    return PoolState(replace(state.facts, now_ms=now_ms), replace(state.learnt, until_ms=now_ms))


def mean_bytes(states: list[PoolState], part: str) -> float:
    ref = Ref("facts" if part == "facts" else "evidence", PoolKey("service", "server", ""))
    return sum(len(value_of(ref, each)) for each in states) / len(states)
