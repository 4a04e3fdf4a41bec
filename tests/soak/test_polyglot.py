"""A quarter of an hour of an application of several languages: its nine pools are sized and applied by the shipped
programs, and what is put in as a bottleneck is named. The whole comparison is `make bench BENCH=real`."""

import os
from pathlib import Path

import pytest

from bench.real.faults import FAULTS
from bench.real.localized import localized, score
from bench.real.measured import Found, measured
from sluice_kit.applications.polyglot_pools import POOLS
from sluice_kit.local_stack.driver import Stack
from sluice_kit.machine.cgroups import CPU

SECONDS = 180.0
MOST_BEHIND_S = 60
NAMED = ("lock of cart", "slow database of catalogue", "threads of orders", "CPU of cart")

pytestmark = [
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="an application and what sizes it need a core each"),
    pytest.mark.skipif(not os.access(CPU / "cgroup.procs", os.W_OK), reason="needs cgroups of version 1, as root"),
]


@pytest.fixture(scope="module")
def found(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Found]:
    def run(method: str) -> Found:
        return measured(stack, (method, "step_up", "closed", 1), SECONDS, {}, tmp_path_factory.mktemp("run"))

    results = {method: run(method) for method in ("hardware only", "sluice")}
    behind_s = max(result["behind_s"] for result in results.values())
    if behind_s > MOST_BEHIND_S:
        pytest.skip(f"the stack is {behind_s:.0f} s behind its spans: too slow or too busy a machine")
    return results


def test_without_an_actuator_sizes_stay(found: dict[str, Found]) -> None:
    assert found["hardware only"]["last"] == found["hardware only"]["first"]
    assert not found["hardware only"]["applied"]


def test_what_is_applied_is_in_force(found: dict[str, Found]) -> None:
    applied = [row for row in found["sluice"]["applied"] if row["outcome"] == "APPLIED"]
    assert applied, found["sluice"]["courses"]
    assert all(row["read_back"] == row["requested"] for row in applied)
    assert found["sluice"]["last"] != found["sluice"]["first"]


def test_users_do_not_lose_by_it(found: dict[str, Found]) -> None:
    """A ratio of two runs, one after the other, of one machine."""
    assert found["sluice"]["failed"] <= 0.01 * SECONDS * found["sluice"]["responses_per_s"]
    assert found["sluice"]["good_per_s"] >= 0.8 * found["hardware only"]["good_per_s"]


def test_bottlenecks_are_named(stack: Stack, tmp_path: Path) -> None:
    faults = [fault for fault in FAULTS if fault.name in NAMED]
    assert len(faults) == len(NAMED)
    named = localized(lambda: stack, faults, 1, 40.0, tmp_path)
    right, _ = score(named, "sluice, CPU known")
    assert right >= len(NAMED) - 1, named


def test_pools_are_those_of_spans(stack: Stack, found: dict[str, Found]) -> None:
    """Each pool of the file is a pool of the tables, but for the port of PostgreSQL, which each run has anew."""
    seen = stack.rows("SELECT DISTINCT service, side, replaceRegexpOne(peer, ':[0-9]+', '') AS peer FROM v_windows")
    keys = {(row["service"], row["side"], row["peer"]) for row in seen}
    for pool in POOLS:
        peers = {pool.peer, "127.0.0.1", "127.0.0.1/postgres"}
        assert any((pool.service, pool.side, peer) in keys for peer in peers), pool.name
