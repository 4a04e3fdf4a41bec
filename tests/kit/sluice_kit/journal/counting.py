"""A decider whose state is how many reports it used, and whose decisions are numbered, of one pool in each shard:
`counting.py BOOTSTRAP PREFIX LEASE_MS`.

A line of JSON on stdout for each thing that happens. A line on stdin holds the next commit, all of it written, until
another line comes.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

from sluice.decider.products import codec
from sluice.engine.records import Heartbeat
from sluice.journal.broker import Group
from sluice.journal.kafka_broker import KafkaBroker
from sluice.journal.kafka_group import KafkaGroup
from sluice.journal.kafka_transactions import KafkaTransactions
from sluice.journal.names import topics
from sluice.journal.shard import AbortedError, FencedError, HungError, Identity
from sluice.journal.shards import Shards
from sluice.pools.commit import PoolsCommit
from sluice.pools.policy.state import Facts, PoolState
from sluice.pools.publication.record import Ref
from sluice_kit.journal.place import POOLS, SHARDS, answer, commit, pools_of

PERIOD_S = 0.1
hold, go = threading.Event(), threading.Event()


def say(what: str, shard: int, **more: Any) -> None:
    print(json.dumps({"what": what, "shard": shard, **more}), flush=True)


class Held(KafkaTransactions):
    def commit(self) -> None:
        if hold.is_set():
            self._producer.flush(10)
            say("held", self._shard)
            go.wait()
            hold.clear()
        super().commit()


class HoldingBroker(KafkaBroker):
    def transactions(self, shard: int, group: Group) -> KafkaTransactions:
        assert isinstance(group, KafkaGroup)
        return Held(self._client, self._topics, shard, group)


def listen() -> None:
    for _ in sys.stdin:
        (go if hold.is_set() else hold).set()


def main(bootstrap: str, prefix: str, lease_ms: str) -> None:
    threading.Thread(target=listen, daemon=True).start()
    names = topics(prefix)
    shards = Shards(HoldingBroker(bootstrap, names), names, Identity("counting", SHARDS, 1), codec())
    known: dict[int, tuple[int, int]] = {}
    while True:
        change = shards.poll(PERIOD_S)
        for shard in change.left:
            known.pop(shard, None)
            say("left", shard)
        if change.taken is not None:
            log, restored = change.taken
            key = POOLS[log.shard]
            pools = pools_of(restored)
            facts = pools.states.facts.get(key, Facts(current=1))
            revision = pools.decisions[key].revision if key in pools.decisions else 0
            known[log.shard] = revision, (facts.current or 0) - 1
            say("taken", log.shard, revision=revision, used=known[log.shard][1], state=facts.now_ms)
        for shard, log in shards.owned.items():
            revision, used = known[shard]
            received = log.received()
            # A size that no other process and no other try has.
            target = 1 + time.monotonic_ns() % (1 << 31)
            after = revision + 1, used + len(received.reports)
            state = PoolState(Facts(now_ms=after[0], current=1 + after[1]))
            beat = Heartbeat(time.time_ns() // 1_000_000, int(lease_ms))
            try:
                key = POOLS[shard]
                part = PoolsCommit([answer(after[0], target, key)], {}, {Ref("facts", key): state})
                log.commit(commit(received, beat, part))
            except (AbortedError, FencedError, HungError) as cause:
                say(type(cause).__name__, shard, why=str(cause))
                if not isinstance(cause, AbortedError):
                    del known[shard]
                    shards.leave(shard)
                continue
            known[shard] = after
            say("committed", shard, revision=after[0], target=target, used=after[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
