"""How a changing load is counted: by hand."""

import numpy as np
import pytest

from bench.subsets import changing
from bench.subsets.changing import Changed, Changing, World, utilization
from bench.subsets.dynamic_report import FULL, MICRONS, NAMES, PLAIN, RIVAL, Summary, report, summary
from bench.subsets.strategies import following
from testbed.mesh.fleet import Fleet
from testbed.mesh.meshes import made
from testbed.mesh.presets import SHAPES


def test_an_autoscaler_that_does_not_see_lost_time_sees_work_alone():
    """At 60 % everything takes 5 times as long: 0.05 of 0.1 cores there are 0.01 of work: 0.06 / 0.2."""
    fleet = Fleet(made({"a": 2}, {"read": (1.0, {"service": "a"})}, hosts=[0.0, 0.6]))
    used, hosts = np.array([0.05, 0.05]), np.array([[0.0] * 3, [0.6] * 3])
    assert utilization(fleet, used, hosts, sees_lost=True) == pytest.approx([0.5])
    assert utilization(fleet, used, hosts, sees_lost=False) == pytest.approx([0.3])


def test_a_run_follows_replayed_containers_and_else_the_autoscaler(monkeypatch):
    monkeypatch.setattr(changing, "SECONDS", 60)
    world = World(containers=48)
    own = Changing(SHAPES["hotel"], world, following("sre"), None).whole()
    assert len(own.counts) == 4
    replay = [[count + (period == 2) for count in own.counts[0]] for period in range(4)]
    assert Changing(SHAPES["hotel"], world, following("sre"), replay).whole().counts == replay


def test_contention_changes_half_way(monkeypatch):
    """Without load on them, hosts have their other tenants' use: 20 % at most at first, then 40 %, each +- 3 %."""
    monkeypatch.setattr(changing, "SECONDS", 60)
    run = Changing(SHAPES["hotel"], World(containers=48), following("sre"), None)
    assert run._run.fleet.others.max() == pytest.approx(0.2, abs=0.03)
    run.whole()
    assert run._run.fleet.others.max() == pytest.approx(0.4, abs=0.03)


def test_summary_by_hand():
    """Two minutes: 10 requests of 100 ms in the first, 10 of 300 ms in the second; 20 and 40 containers."""
    rows = np.array([[at, at + (0.1 if at < 60 else 0.3), 0, 0] for at in np.arange(3.0, 120.0, 6.0)])
    changed = Changed(rows, [[5, 15], [10, 30]], [0.4, 0.6], 2.5)
    result = summary(changed, seconds=120)
    assert [result.low[1], result.high[1], result.all[1]] == pytest.approx([100.0, 300.0, 300.0])
    assert result.minutes == pytest.approx([100.0, 300.0])
    assert (result.containers, result.busiest, result.cores) == (30.0, 0.5, 2.5)


def test_report_by_hand():
    """60 beside 100 is 40 % less, beside 120 50 %; 80 beside 100 is 20 % less."""

    def of(p95, high):
        percentiles = np.array([p95 / 2, p95, p95 * 2])
        minutes = np.array([p95, high])
        return Summary(percentiles, percentiles, np.array([high / 2, high, high * 2]), minutes, 100.0, 2.0, 0.5, [[1]])

    by_name = {RIVAL: [of(100.0, 200.0)], FULL: [of(120.0, 210.0)], PLAIN: [of(80.0, 150.0)], MICRONS: [of(60.0, 70.0)]}
    text = report({"case": by_name})
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    assert [row for row in table if row[0] == "case"][-1][1:9] == [
        *("100", "120", "80", "60", "-40.0 %", "-20.0 %", "-50.0 %", "-65.0 %")
    ]
    worst = next(row for row in table if row[0] == "worst minute's p95")
    assert worst[1:] == ["200", "210", "150", "70", "-65.0 %", "-65.0 to -65.0 %"]
    assert tuple(table[0][1:5]) == NAMES
