"""Names that no honest sender of spans has, from the journal through the writer of records, ClickHouse and the server's
history: each stays the name that it is, and changes no statement."""

import time
from pathlib import Path

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.common.v1.decision_pb2 import ACTION_APPLY
from sluice.model.keys import PoolKey
from sluice.pools.names import pool_name
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_pb2 import SIDE_CLIENT, Pool
from sluice.pools.v1.pool_size_pb2 import STATE_PROVIDED, PoolSize
from sluice_kit.hostile import TEXTS
from sluice_kit.journal.shard_log import Log, recording, serving
from sluice_kit.servers.clickhouse import ClickHouse
from sluice_kit.servers.kafka import Broker
from sluice_kit.waiting import until

pytestmark = pytest.mark.integration
MORE = ("\\", "\\'", "a\tb", "a\nb", "\\N", "{name:String}", "'", '"', "`", "a\\nb", "🧵", "..", "a&param_side=client")
NAMES = [name for name in dict.fromkeys((*TEXTS, *MORE)) if name and len(name.encode()) <= 512]


def test_the_history_of_each_is_its_own(broker: Broker, database: ClickHouse, tmp_path: Path) -> None:
    log, now = Log(broker), Timestamp(seconds=int(time.time()))
    sizes = {}
    for number, name in enumerate(NAMES, start=1):
        pool = Pool(service=name, side=SIDE_CLIENT, peer=name)
        size = PoolSize(
            pool=pool, state=STATE_PROVIDED, action=ACTION_APPLY, target=number, revision=7, computed_at=now
        )
        sizes[pool_name(PoolKey(name, "client", name))] = size
    log.commit(*(("decisions", key, size) for key, size in sizes.items()))
    with recording(log, database, tmp_path):
        count = "SELECT count() FROM recommendations FINAL"
        until("all are recorded", lambda: database.client("sluice").query(count).result_rows == [(len(NAMES),)])
    with serving(log, tmp_path, {"SLUICE_CLICKHOUSE": database.url}) as stub:
        for size in sizes.values():
            assert stub.GetPoolSize(api.GetPoolSizeRequest(pool=size.pool)).pool_size.target == size.target
            past = stub.ListPoolSizeHistory(api.ListPoolSizeHistoryRequest(pool=size.pool))
            assert [each.pool_size.target for each in past.answers] == [size.target]
