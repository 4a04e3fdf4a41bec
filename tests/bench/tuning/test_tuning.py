"""The real application to tune: its files as Sluice reads them, the order of sessions, and what the table says."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.tuning.judged import confirmed, pairs, table, users_gain
from bench.tuning.parameters import PARAMETERS, TARGET, application, settings, tuned
from bench.tuning.run import Session, in_order, sessions
from sluice.tuning.application import load
from sluice_kit.applications.storefront import NAMES, Storefront, made
from testbed.storefront.access_log import span_of
from testbed.windows import latency_index

ACTUATOR = Path(__file__).resolve().parents[3] / ".cache/bin/sluice-actuator"
WINDOW = {"warm_up_s": 10, "most_s": 20}


@pytest.fixture
def at(tmp_path: Path) -> Storefront:
    for number, name in enumerate(NAMES):
        made(tmp_path / name, dict.fromkeys((*NAMES, "log"), 9000 + number))
    return Storefront(tmp_path, "http://127.0.0.1:1/page", "http://127.0.0.1:2/settings", "http://127.0.0.1:3/jolokia/")


def test_the_application_is_legal_with_and_without_pools(tmp_path: Path) -> None:
    for pools, many in ((True, 30), (False, 21)):
        path = tmp_path / "app.yaml"
        path.write_text(yaml.safe_dump(application(tuned(pools), "tpe", 3)))
        plan = load(path, "first").plan
        assert (plan.target, plan.method, plan.seed, plan.budget, plan.pairs) == (TARGET, "tpe", 3, 15, 3)
        assert len(plan.space.parameters) == many


def test_the_defaults_are_what_the_programs_are_begun_with(at: Storefront) -> None:
    for parameter in PARAMETERS:
        if parameter.pattern:
            result = re.search(parameter.pattern, at.conf(parameter.service).read_text(), re.MULTILINE)
            assert result, parameter.name
            usual = str(parameter.default).lower() if isinstance(parameter.default, bool) else f"{parameter.default:g}"
            assert result[1] == parameter.values.get(usual, usual) + parameter.unit, parameter.name


def test_the_actuator_takes_its_file(at: Storefront, tmp_path: Path) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text(yaml.safe_dump(settings(tuned(), at, "127.0.0.1:50051")))
    words = [ACTUATOR, "tune", "--config", path, "--session", "first", "--check"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "valid: 30 parameters of storefront" in done.stdout


def test_sessions_of_a_seed_come_before_those_of_the_next_and_dds_first(tmp_path: Path) -> None:
    methods, spaces = ["dds", "tpe"], ["whole", "reduced"]
    order = [Session("whole", "dds", 1), Session("reduced", "dds", 1), Session("whole", "tpe", 1)]
    assert sessions([1, 2], methods, spaces) == order + [item._replace(seed=2) for item in order]
    with pytest.raises(ValueError, match="'ddss' is not known; legal: dds"):
        sessions([1], ["ddss"], spaces)
    for item in (order[2], order[0], Session("without-pools", "dds", 1)):
        (tmp_path / item.file).write_text("{}")
    (tmp_path / "space.json").write_text("{}")
    assert in_order(tmp_path) == [order[0], order[2], Session("without-pools", "dds", 1)]


def second(at: int, ms: int) -> dict[str, Any]:
    return {"at": at, "responses": 10, "latency": {str(latency_index(ms * 10**6)): 10}, "late_ms": 3.0}


def kept(space: str, method: str, seed: int, default_ms: float, winner_ms: float) -> dict[str, Any]:
    """Trial 1 won, and was confirmed by D W, W D; trial 9 had been refuted before."""
    order = [("DEFAULT", default_ms), ("WINNER", winner_ms), ("WINNER", 1.1 * winner_ms), ("DEFAULT", 1.1 * default_ms)]
    trials = [("SEARCH", None, default_ms), ("SEARCH", None, winner_ms), ("DEFAULT", 9, 1.0)]
    trials += [(purpose, 1, value) for purpose, value in order]
    ms = [round(default_ms if purpose == "DEFAULT" else winner_ms) for purpose, _, _ in trials]
    return {
        "space": space, "method": method, "seed": seed, "parameters": ["a", "b"],
        "users": [second(30 * number + s, ms[number]) for number in range(7) for s in range(30)],
        "session": {
            "gain": [0.5, 0.5, 0.5], "seconds": 600,
            "trials": [
                {"number": number, "purpose": purpose, "confirms": confirms, "value": value, "verdict": "GOOD",
                 "applied_s": 30 * number - 1, "changed": {"a": "7"} if number == 1 else {}}
                for number, (purpose, confirms, value) in enumerate(trials)
            ],
        },
    }  # fmt: skip


def test_pairs_are_of_the_last_winner_and_users_are_read_within_its_windows() -> None:
    run = kept("whole", "dds", 1, 100.0, 50.0)
    assert pairs(run["session"]) == [(100.0, 50.0), (pytest.approx(110.0), pytest.approx(55.0))]
    assert users_gain(run, WINDOW) == pytest.approx(0.5, abs=0.02)
    result = confirmed([run, kept("whole", "dds", 2, 200.0, 100.0)])
    assert result is not None
    assert (result.share, result.pairs) == (pytest.approx(0.5), 4)
    assert pairs({"trials": []}) == []


def test_a_pair_of_which_a_side_was_rolled_back_counts_for_nobody() -> None:
    run = kept("whole", "dds", 1, 100.0, 50.0)
    run["session"]["trials"][3] |= {"value": None, "verdict": "UNSAFE"}
    run["users"] = [item | second(item["at"], 5_000) if item["at"] // 30 == 3 else item for item in run["users"]]
    assert pairs(run["session"]) == [(pytest.approx(110.0), pytest.approx(55.0))]
    assert users_gain(run, WINDOW) == pytest.approx(0.5, abs=0.02)


def test_the_table_says_which_bars_are_met() -> None:
    runs = [
        kept("whole", "dds", 1, 100.0, 50.0),
        kept("whole", "tpe", 1, 100.0, 90.0),
        kept("without-pools", "dds", 1, 100.0, 85.0),
        kept("reduced", "dds", 1, 100.0, 60.0),
    ]
    text = table(runs, {"table": "SERVICE  TUNED\nnginx  no\n"}, WINDOW)
    assert "| whole | 2 | `dds` | 50% (50% to 50%) | 50% (50% to 50%) | 50% | 105 | 10.0 | 0 |" in text
    assert "whole: best is `dds` with 50% (50% to 50%) (bar: 20% at least, interval above 5%: met)." in text
    assert "without-pools: best is `dds` with 15%" in text
    assert "interval above 5%: missed)" in text
    assert "`dds` keeps 80% of that gain (bar: 85% at least: missed)" in text
    assert "- whole, `dds`: a 7" in text


def test_a_line_of_nginx_is_a_span() -> None:
    trace = "0123456789abcdef0123456789abcdef"
    message = f"<190>Nov 23 01:02:03 nginx: {trace} {trace[:16]} 1700000000.250 0.040 502".encode()
    span = span_of(message)
    assert span is not None
    assert (span.trace_id, span.span_id, span.parent_id) == (int(trace, 16), int(trace[:16], 16), 0)
    assert (span.start_ns, span.end_ns, span.failed) == (1_700_000_000_210_000_000, 1_700_000_000_250_000_000, True)
    assert span_of(b"<190>something else") is None
