"""What a shard's log costs: a minute of the states of 10,000 pools, committed to a real broker, and taken over."""

import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from sluice.control.codec import DeciderCodec, DeciderLog, DeciderShards
from sluice.control.commit import Commit, Found, Heartbeat
from sluice.journal.kafka_broker import KafkaBroker
from sluice.journal.names import topics
from sluice.journal.shard import Identity
from sluice.model.keys import PoolKey
from sluice.pools.due import EVERY_MS, Due
from sluice.pools.estimate.belief.evidence import Evidence, Second
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from sluice.pools.record import Ref, value_of
from support.kafka import kafka
from support.waiting import until

POOLS, QUICK_POOLS = 10_000, 1_000
PERIOD_MS = 5_000
BEGIN_MS = 1_800_000_000_000
SECONDS_SEEN = 300


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
        names = topics("bench_")
        broker.log("bench_", 1)
        clients = [KafkaBroker(broker.bootstrap, names) for _ in range(2)]
        one, other = (DeciderShards(client, names, Identity("bench", 1, 0), DeciderCodec()) for client in clients)
        log, _ = taken(one)
        due, spent_s = Due(), []
        everything = {Ref(part, key): each for key, each in states.items() for part in ("facts", "evidence")}
        first_s = commit(log, everything, BEGIN_MS)
        for now_ms in range(BEGIN_MS + PERIOD_MS, BEGIN_MS + EVERY_MS + 1, PERIOD_MS):
            states = {key: later(each, now_ms) for key, each in states.items()}
            spent_s.append(commit(log, dict(due.of(states)), now_ms))
        one.close()
        begun = time.perf_counter()
        _, found = taken(other)
        restored_s = time.perf_counter() - begun
        assert found.states.states().keys() == states.keys()
        other.close()
    return [
        ("pools", f"{pools:,}"),
        ("facts of a pool", f"{mean_bytes(made, 'facts'):,.0f} bytes"),
        ("its evidence, with that of another version", f"{mean_bytes(made, 'evidence'):,.0f} bytes"),
        ("facts and evidence of all pools in one commit", f"{first_s:.1f} s"),
        (f"a commit in a period of {PERIOD_MS // 1_000} s, the longest", f"{max(spent_s) * 1e3:.0f} ms"),
        ("taking the shard over, from joining the group on", f"{restored_s:.1f} s"),
    ]


def taken(shards: DeciderShards) -> tuple[DeciderLog, Found]:
    found: list[tuple[DeciderLog, Found]] = []

    def look() -> bool:
        if (change := shards.poll(0.1)).taken is not None:
            found.append(change.taken)
        return bool(found)

    until("it has the shard", look)
    return found[0]


def commit(log: DeciderLog, states: dict[Ref, PoolState], now_ms: int) -> float:
    """How long it took."""
    begun = time.perf_counter()
    assert log.commit(Commit(log.received(), Heartbeat(now_ms, 30_000), states=states))
    return time.perf_counter() - begun


def later(state: PoolState, now_ms: int) -> PoolState:
    """Nothing but new windows came."""
    return PoolState(replace(state.facts, now_ms=now_ms), replace(state.learnt, until_ms=now_ms))


def mean_bytes(states: list[PoolState], part: str) -> float:
    ref = Ref("facts" if part == "facts" else "evidence", PoolKey("service", "server", ""))
    return sum(len(value_of(ref, each)) for each in states) / len(states)
