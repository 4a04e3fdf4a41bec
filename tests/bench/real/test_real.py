"""The bench without its programs: sizes by seed, accounts, figures, tables, who is named, resumed runs."""

import json
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from bench.real import run
from bench.real.faults import AMPLE, FAULTS
from bench.real.hardware import Accounts
from bench.real.limiter import mean_s
from bench.real.localized import _between, named, score
from bench.real.manifest import manifest
from bench.real.measured import LONGEST_WARM_UP_S, USERS, WARM_LENGTH_S, WARM_LOAD, figures
from bench.real.methods import METHODS, config, first_sizes
from bench.real.published import query, samples
from bench.real.sweep import START, descended
from bench.real.table import against_bars, comparison, interval, localization
from sluice.config.load import parse
from sluice_kit.applications.polyglot_pools import POOLS, actuator_file, drawn
from testbed.real.rates import RATES
from testbed.windows import BUCKETS_PER_OCTAVE

APP: Any = SimpleNamespace(
    database="postgres://sluice@127.0.0.1:5000/postgres", jolokia="http://127.0.0.1:1/actuator/jolokia",
    handlers=dict.fromkeys(("gateway", "catalogue", "cart", "shipping"), "127.0.0.1:2"), token=Path("token"), cpu={},
)  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("METHODS", "LOADS", "LOOPS", "PARTS", "SEEDS", "SECONDS_A_RUN"):
        monkeypatch.delenv(variable, raising=False)


def test_sizes_are_of_the_seed_and_both_too_small_and_far_too_large() -> None:
    assert drawn(3) == drawn(3)
    for pool in POOLS:
        sizes = {drawn(seed)[pool.name] for seed in range(60)}
        assert sizes == {*pool.small, *pool.large}
        assert max(pool.small) < min(pool.large)


def test_pools_go_by_the_names_of_spans() -> None:
    keys = {pool.name: pool.key(APP) for pool in POOLS}
    assert keys["gateway.postgresql"] == {"service": "gateway", "side": "client", "peer": "127.0.0.1:5000/postgres"}
    assert keys["catalogue.postgresql"]["peer"] == "127.0.0.1:5000"  # otelsql names no database
    assert keys["cart.server"] == {"service": "cart", "side": "server"}
    assert keys["gateway.catalogue"]["peer"] == "catalogue"
    assert 8 <= len(POOLS) <= 10


def test_decider_and_actuator_have_all_pools() -> None:
    decided = [
        {k: v for k, v in pool.items() if k in ("service", "side", "peer")} for pool in config("scg", APP)["pools"]
    ]
    document = actuator_file(APP, "127.0.0.1:3", "127.0.0.1:4", True, Path("state"))
    assert decided == [target["pool"] for target in document["targets"]] == [pool.key(APP) for pool in POOLS]
    legal = parse(yaml.safe_dump(config("scg", APP)), "sluice.yaml")
    assert {pool.model for pool in legal.pools} == {"scg"}
    assert len(legal.pools) == len(POOLS)
    assert set(first_sizes("best fixed", 1, AMPLE)) == set(first_sizes("sluice", 1, {})) == set(AMPLE)


def test_limits_are_weighted_by_time() -> None:
    accounts = Accounts([(0.0, "a", 0.3), (0.0, "b", 0.3), (10.0, "a", 0.5)], used_s=8.0, seconds=20.0)
    assert accounts.cores_limited() == pytest.approx(0.4 + 0.3)
    assert accounts.cores_used == 0.4


def test_the_warm_up_has_users_all_the_while_and_no_step() -> None:
    shape = RATES[WARM_LOAD].lasting(WARM_LENGTH_S)
    assert {round(USERS * shape(at)) for at in range(round(LONGEST_WARM_UP_S) + 60)} == {12}


def test_figures_of_seconds() -> None:
    index = round(math.log2(10e6) * BUCKETS_PER_OCTAVE)
    second = {"at": 1, "users": 2, "responses": 100, "good": 98, "failed": 2, "latency_ms": 980.0, "late_ms": 1.0}
    found = figures([second | {"latency": {str(index): 98}}])
    assert found["p95_ms"] == pytest.approx(10, rel=0.03)
    assert found["p99_ms"] is None  # a failure takes for ever
    assert found["good_per_s"] == 98
    json.dumps(found, allow_nan=False)


def test_descent_ends_at_the_best_of_each() -> None:
    best = descended(["a", "b"], (2, 4, 8, 16), lambda sizes: -abs(sizes["a"] - 8) - abs(sizes["b"] - 4))
    assert (best["a"], best["b"]) == (8, 4)
    assert best["shipping.consumer"] == START
    assert descended(["a"], (2, 4, 8), lambda sizes: 1.0)["a"] == 2  # the smallest of equal ones


def test_samples_have_the_size_in_force() -> None:
    rows = [
        {"at_ms": str(1_000 + 100 * n), "busy_ns": "50000000", "done": "4", "judged": "3", "good": "2"}
        for n in range(3)
    ]
    seen = samples(rows, [(0.0, 5), (1.1, 9)])
    assert seen is not None
    assert seen.concurrency.tolist() == [0.5] * 3
    assert seen.goodput_per_s.tolist() == [20.0] * 3
    assert seen.throughput_per_s.tolist() == [40.0] * 3
    assert seen.limit.tolist() == [5, 9, 9]
    assert samples([], [(0.0, 5)]) is None
    assert samples([rows[0] | {"judged": "0"}], [(0.0, 5)]) is None


def test_callers_judge_threads_and_services_judge_their_connections() -> None:
    text = {pool.name: query(pool, pool.key(APP), 250.0) for pool in POOLS}
    assert "(side = 'client' AND peer = 'cart')" in text["cart.server"]
    assert "service = 'cart')" in text["cart.postgresql"]
    assert "peer = '127.0.0.1:5000/postgres'" in text["cart.postgresql"]


def test_little() -> None:
    assert mean_s({"busy_ns": "2000000000", "completed": "40"}) == 0.05
    assert mean_s({"busy_ns": "0", "completed": "0"}) is None


def row(service: str, blame: list[int], whole: list[int], *usual: float) -> list[Any]:
    """Of services.sql: a service that takes `blame` of `whole`, ns. usual: of the two, ms."""
    squares = sum(x * x for x in blame), sum(y * y for y in whole)
    product = sum(x * y for x, y in zip(blame, whole, strict=True))
    sums = [sum(blame), squares[0], sum(whole), squares[1], product, sum(blame), 0]
    rest = [1.0, 2.0, None, None, None, 3.0, *(usual or (None, None))]
    return ["gateway", "GET /shop", service, len(whole), *map(str, sums), *rest]


def test_who_takes_longer_than_usual_is_named() -> None:
    """Of 18 ms instead of 15, gateway takes 10 as ever, and cart 8 instead of 5."""
    whole = [18_000_000] * 40
    rows = [row("gateway", [10_000_000] * 40, whole, 10.0, 15.0), row("cart", [8_000_000] * 40, whole, 5.0, 15.0)]
    assert named(rows, {"gateway": 0.5, "cart": 0.1})["sluice"] == "cart"


def test_the_service_that_takes_most_is_named() -> None:
    slow = [10_000_000 + 1_000_000 * (n % 17) for n in range(40)]
    quick = [5_000_000 + 1_000 * (n % 3) for n in range(40)]
    whole = [x + y for x, y in zip(slow, quick, strict=True)]
    rows = [row("gateway", quick, whole), row("cart", slow, whole)]
    assert named(rows, {"gateway": 0.5, "cart": 0.1}) == {
        "sluice": "cart", "sluice, CPU known": "cart", "CPU alone": "gateway",
    }  # fmt: skip
    # A core that is full is a cause that CPU shows alone.
    assert named(rows, {"gateway": 0.95, "cart": 0.1})["sluice, CPU known"] == "gateway"
    assert named([], {"gateway": 0.5, "cart": 0.1})["sluice"] is None


def test_an_interval_of_the_query_that_has_passed() -> None:
    text = _between(1_000.0, 1_060.0)
    assert "now64" not in text
    assert not re.search(r"{\w+:", text)  # every parameter has its value
    assert "fromUnixTimestamp64Milli(1060000)" in text
    assert text.count("window < fromUnixTimestamp(1060) AND window > since") == 2


def test_faults_name_services_and_are_of_five_kinds_at_least() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.kind for fault in FAULTS} >= {"lock", "slow database", "threads", "CPU", "slow dependency"}
    found: list[dict[str, Any]] = [{"culprit": "cart", "way": "cart"}, {"culprit": "cart", "way": None}]
    assert score(found, "way") == (1, 2)


@pytest.mark.parametrize(
    ("values", "text"), [([10.0, 12.0], "11.0 ± 12.7"), ([3.0], "3.00"), ([1.0, None], "no end"), ([250.0], "250")]
)
def test_interval(values: list[float | None], text: str) -> None:
    assert interval(values) == text


ITEM = {
    "p50_ms": 10.0, "p95_ms": 20.0, "p99_ms": None, "good_per_s": 5.0, "failed": 1, "cores_used": 0.5, "late_ms": 2.0,
    "cores_limited": 2.0, "stack_cores": 0.3, "behind_s": 3.0, "courses": [[0.0, {}], [5.0, {}]],
}  # fmt: skip


def test_tables() -> None:
    text = comparison({("sluice", "step_up", "open", 1): ITEM, ("scg", "step_up", "open", 1): ITEM}, 60.0)
    assert "| sluice | 1 | 10.0 | 20.0 | no end |" in text
    assert "`step_up`, open loop" in text
    found = {"fault": "lock of cart", "culprit": "cart", "sluice": "cart", "sluice, CPU known": None, "CPU alone": "x"}
    assert "| sluice | 1 of 1 (100%) |" in localization([found])


def test_against_the_bars() -> None:
    found = {
        (method, load, "open", 1): ITEM | {"p99_ms": p99_ms}
        for method, load, p99_ms in (
            ("sluice", "step_up", 400.0), ("hardware only", "step_up", 800.0),
            ("sluice", "step_down", 900.0), ("hardware only", "step_down", 3600.0), ("sct as published", "other", 1.0),
        )
    }  # fmt: skip
    assert against_bars(found)[2:] == ["| hardware only | 2 | 2.83 (bar 2.5) | 1.00 (bar 1.1) | 1.00 (bar 1) |"]
    assert against_bars({("sluice", "step_up", "open", 1): ITEM}) == []


def test_versions_are_in_the_locks() -> None:
    rows = [line.split("|")[1:3] for line in manifest().splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 15
    assert all(version.strip() for _, version in rows), rows


def test_finished_runs_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that fails leaves those before it, and a rerun takes up there. Without any to do, no stack is started."""
    monkeypatch.setattr(run, "OUT", tmp_path)
    monkeypatch.setenv("PARTS", "comparison")
    monkeypatch.setenv("LOADS", "step_up")
    monkeypatch.setenv("METHODS", "sluice,hardware only")
    begun: list[str] = []

    def measured(stack: object, task: Any, *_: object) -> Any:
        begun.append(task[0])
        if begun == ["sluice", "hardware only"]:
            raise RuntimeError("the machine went away")
        return ITEM

    monkeypatch.setattr(run, "measured", measured)
    monkeypatch.setattr(run, "started", lambda: None)
    monkeypatch.setattr(run, "drive", lambda *_: None)
    monkeypatch.setattr(run, "start_anew", lambda: None)
    with pytest.raises(RuntimeError, match="went away"):
        run.run(quick=True)
    assert "| hardware only | 1 |" in run.run(quick=True)
    assert begun == ["sluice", "hardware only", "hardware only"]
    monkeypatch.setattr(run, "start_anew", lambda: pytest.fail("started a stack for nothing"))
    run.run(quick=True)


@pytest.mark.parametrize(("variable", "wrong"), [("METHODS", "sora"), ("LOADS", "flat"), ("LOOPS", "half")])
def test_names_that_are_not_legal(monkeypatch: pytest.MonkeyPatch, variable: str, wrong: str) -> None:
    monkeypatch.setenv(variable, wrong)
    with pytest.raises(ValueError, match=f"{variable}: '{wrong}' is not legal; legal: "):
        run.tasks(quick=False)


def test_all_of_it() -> None:
    """5 seeds, both loops, 8 loads, all methods."""
    assert len(run.tasks(quick=False)) == 5 * 2 * 8 * len(METHODS)
