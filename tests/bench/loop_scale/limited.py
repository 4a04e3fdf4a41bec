"""A decider with the chart's memory, which actuators give ten times the pools that discovery takes by default.

Its windows come from ClickHouse, as `Queried`. The kernel counts what the process asks for once it is in the control
group, so its limit is less by what it has then.
"""

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.loaded_windows import Loaded
from bench.loop_scale.deciders import Deciders
from bench.loop_scale.found import fill
from bench.loop_scale.period import PERIOD_S, begun
from bench.loop_scale.processes import forget_peak, memory_mb, resident_bytes
from bench.loop_scale.queried import Queried
from bench.loop_scale.windows import BUCKET_MS, NOW_MS, draw
from migrate.__main__ import schema_up
from sluice.config import Config
from sluice.fast.garbage import search_rarely
from sluice.pools.discovery.room import MemoryRoom
from sluice.pools.policy.prepare import prepare
from sluice_kit.faults.memory import limited, possible
from sluice_kit.journal.memory_log import pool_shard
from sluice_kit.servers.clickhouse import clickhouse
from sluice_kit.servers.kafka import kafka

LIMIT = 2**30
"""`sizing.decider` of the chart."""
PERIODS, THRESHOLD_MS, HISTORY_S = 5, 100, 600


def in_limits(pools: int) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    if not possible():
        return [(f"{pools:,} pools within {LIMIT / 2**20:,.0f} MiB", "not measured: it needs root and control groups")]
    search_rarely()
    prepare()
    drawn = draw()
    named = [{"service": f"service-{number:05}", "side": "server"} for number in range(pools)]
    config = Config.model_validate({"pools": named})
    slo = {"name": "all", "service": "*", "latency": f"{THRESHOLD_MS}ms"}
    declared = Config.model_validate({"discovery": {"most": pools}, "slos": [slo]})
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        broker, server = stack.enter_context(kafka(Path(folder))), stack.enter_context(clickhouse(Path(folder)))
        schema_up(server.writer_url, "sluice", wait_s=30)
        fill(server, pools, NOW_MS + 60_000, parts=1, history_s=HISTORY_S)
        samples = [item.samples for item in drawn]
        loaded = Loaded(server.client("sluice"), samples, pools, NOW_MS, BUCKET_MS, THRESHOLD_MS * 10**6)
        loaded.fill()
        stack.enter_context(limited(os.getpid(), LIMIT - resident_bytes()))
        spread, collector = stack.enter_context(begun(declared)), Queried(server.url)
        deciders = Deciders(broker, config, drawn, declared)
        room = MemoryRoom(LIMIT)
        loop = stack.enter_context(deciders.one(collector, spread, room))
        forget_peak()
        for _ in range(PERIODS):
            deciders.observe(loop)
            loop.periods()
            loaded.go_on(PERIOD_S)
            collector.now_ms += 1000 * PERIOD_S
            deciders.now_ms += 1000 * PERIOD_S
        shard = pool_shard(loop)
        evidence = sum(len(state.learnt.full) > 0 for state in shard.states.values())
        return [
            (f"**{pools:,} pools with a size, within {LIMIT / 2**20:,.0f} MiB**", str(room)),
            (f"pools after {PERIODS} periods; with evidence", f"{len(shard.config.pools):,}; {evidence:,}"),
            (f"memory at most, MB of {LIMIT / 1e6:,.0f}", " + ".join(f"{item:.0f}" for item in memory_mb(spread))),
        ]
