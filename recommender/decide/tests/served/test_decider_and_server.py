"""A decider's log and the Go server, in both directions: decisions, and what callers tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sluice.decider.products import codec
from sluice.journal.kafka_broker import KafkaBroker
from sluice.journal.names import topics
from sluice.journal.shard import Identity
from sluice.journal.shards import Shards
from sluice.model.keys import PoolKey
from sluice.pools.discovery.candidate import Candidate
from sluice.pools.discovery.message import read_candidate
from sluice.pools.names import message_of
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.actuation_pb2 import ACTUATION_OUTCOME_APPLIED, ACTUATION_OUTCOME_OBSERVED, Actuation
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice_kit.journal.place import SHOP, answer, period, pool
from sluice_kit.journal.shard_log import Log, serving
from sluice_kit.servers.kafka import Broker
from sluice_kit.waiting import until

pytestmark = pytest.mark.integration


def test_a_server_gives_out_what_a_decider_commits_and_tells_it_what_callers_say(
    broker: Broker, tmp_path: Path
) -> None:
    log = Log(broker)
    broker.topic(f"{log.prefix}state", like="sluice_state")
    names = topics(log.prefix)
    client = KafkaBroker(log.bootstrap, names)
    decider = Shards(client, names, Identity("test", shards=1, generation=1), codec())
    until("it has the shard", lambda: decider.poll(0.1).taken is not None)
    shard = decider.owned[0]
    first = period(shard.received(), [answer(1, 8)])
    found = Candidate(PoolKey("found", "server", ""), "why", "metrics", 1, 2.5, 2, 8, "metrics", 5)
    none = Candidate(PoolKey("none", "client", "db"), "no size", seen_ms=5)
    candidates = {one.key: one for one in (found, none)}
    part = replace(first.parts["pools"], explanations={SHOP: Explanation(completions=7)}, candidates=candidates)
    shard.commit(replace(first, parts={"pools": part}))
    with serving(log, tmp_path, {}) as stub:
        got = stub.GetPoolSize(api.GetPoolSizeRequest(pool=pool(SHOP))).pool_size
        assert (got.revision, got.target) == (1, 8)
        assert got.lease_left.ToSeconds() > 0
        explained = stub.ExplainPoolSize(api.ExplainPoolSizeRequest(pool=pool(SHOP)))
        assert explained.explanation.completions == 7
        listed = stub.ListCandidates(api.ListCandidatesRequest()).candidates
        assert [read_candidate(one) for one in listed] == [found, none]

        done = Actuation(
            pool=pool(SHOP), target_name="t", actuator="a", outcome=ACTUATION_OUTCOME_APPLIED, read_back=8, revision=1
        )
        stub.ReportActuation(api.ReportActuationRequest(actuation=done, request_id="mine"))
        stub.PausePool(api.PausePoolRequest(pool=pool(SHOP), by="me", why="a test"))
        until("it has both reports", lambda: len(shard.received(0.1).reports) == 2)
        received = shard.received()
        assert [each.WhichOneof("report") for each in received.reports] == ["actuation", "pause"]
        until("it has the size", lambda: len(shard.received(0.1).observed) == 1)
        (size,) = shard.received().observed.values()
        assert (size.size.size, size.written) == (8, True)

        seen = Actuation(
            pool=message_of(none.key), target_name="t", actuator="a", outcome=ACTUATION_OUTCOME_OBSERVED, read_back=5
        )
        stub.ReportActuation(api.ReportActuationRequest(actuation=seen))
        until("it has the size of a candidate", lambda: len(shard.received(0.1).observed) == 2)

        shard.commit(period(shard.received(), [answer(2, 9)]))
        asked = api.GetPoolSizeRequest(pool=pool(SHOP))
        until("the server has it", lambda: stub.GetPoolSize(asked).pool_size.revision == 2)
    assert shard.received().reports == []
    decider.close()
    client.close()
