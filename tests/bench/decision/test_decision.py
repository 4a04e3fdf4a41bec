"""How the proof counts, by hand; that its parts run is seen by ``make bench QUICK=1``."""

from collections.abc import Mapping

import numpy as np
import pytest

from bench.best_fixed import CHOSEN_ON
from bench.controllers.in_loop import Course
from bench.controllers.racers import HARDWARE, SLUICE
from bench.decision import (
    cases,
    claims,
    lineup,
    path,
    phases,
    quarter,
    rest,
    services,
    starts,
    three_tiers,
    two_pools,
    workloads,
)
from bench.decision.summary import Summary, best_p99, markdown, summary
from bench.generate import scenario, step
from bench.racing import HELD, Result, drive
from bench.scenarios import scenario as committed
from testbed.fine import PoolWindows
from testbed.single.names import POOL
from testbed.single.scenario import Scenario


def made(p99_ms: float, goodput: float) -> Summary:
    return Summary(p99_ms, 2 * p99_ms, goodput, goodput / 2, 3.0)


def test_who_is_raced() -> None:
    assert {"vegas", "vegas (told of scaling)", "hill climbing"} <= set(lineup.LATE)
    assert "vegas (undelayed)" in lineup.FRESH
    assert lineup.PUBLISHED == ["sct as published", "scg as published"]
    assert not set(lineup.SEEDS) & set(CHOSEN_ON)
    assert {f"{SLUICE} with nothing", "scg with our gates", "sct with our gates"} == set(lineup.VARIANTS)
    assert len(set(lineup.EVERYONE)) == len(lineup.EVERYONE)


def test_a_summary_is_of_means_and_of_the_worst_seed() -> None:
    results = [Result("x", seed, 1, p99, good, 2 * seed, ()) for seed, p99, good in ((1, 100, 10), (2, 300, 20))]
    assert summary(results) == Summary(200, 300, 15, 10, 3)


def test_a_short_p99_counts_with_enough_goodput_only() -> None:
    assert best_p99({"a": made(300, 100), "b": made(200, 98), "c": made(50, 97)}) == "b"


def cell(ours: Summary, **others: Summary) -> workloads.Cell:
    everyone = dict.fromkeys(lineup.EVERYONE, made(900, 50)) | {
        "fixed 9": made(100, 100),
        "fixed 12": made(140, 101),
    }
    return workloads.Cell("big_spike", 20, everyone | {SLUICE: ours} | others, ["fixed 12", "fixed 9"])


def test_a_cell_is_held_against_the_best_of_rivals_and_fixed_sizes() -> None:
    result = cell(made(120, 100), vegas=made(90, 99), aimd=made(10, 90))
    assert (result.best, result.p99_ratio) == ("vegas", pytest.approx(120 / 90))  # aimd completes too little to count
    assert result.goodput_ratio == pytest.approx(100 / 101)
    assert result.behind(lineup.LATE) == ["vegas"]
    assert result.behind(lineup.PUBLISHED) == []
    assert "fresh" not in workloads.bars([result])


def test_the_bars_count_cells() -> None:
    text = workloads.bars([cell(made(120, 100), vegas=made(90, 99)), cell(made(110, 101))])
    assert "| p99 <= 1.25 x the best | 1 of 2, worst 1.33 |" in text
    assert "| goodput >= 0.99 of the best | 2 of 2, worst 0.990 |" in text
    assert "| ahead of every rival in p99 (bar: 20 of 24) | 1 of 2 |" in text
    assert "| ahead of SCT and SCG as published | 2 of 2 |" in text
    assert f"| {SLUICE} | 115 ms, 100/s |" in workloads.everyone([cell(made(120, 100)), cell(made(110, 101))])


def test_rivals_of_use_come_near_the_best_one_over_the_workloads() -> None:
    results = [cell(made(1, 1), vegas=made(500, 100), gradient2=made(100, 96), aimd=made(10, 94))]
    assert cases.of_use(results) == ["gradient2", "vegas"]


def test_a_case_asks_for_the_goodput_and_p99_of_rivals_of_use() -> None:
    racers = dict.fromkeys(lineup.WITHOUT, made(1, 1))
    racers |= {"vegas": made(100, 100), "gradient2": made(80, 97), "fixed 9": made(60, 120)}
    text = cases.report(
        {
            "slow_dependency": racers | {SLUICE: made(110, 100)},
            "slo_changes": racers | {SLUICE: made(111, 100)},
            "steady_overload": racers | {SLUICE: made(500, 99)},
        },
        ["gradient2", "vegas"],
    )
    _, judged, worth = text.split("\n\n")
    met = [line.split(" | ")[-2] for line in judged.splitlines() if line.startswith("| s")]
    assert met == ["yes", "no", "yes"]
    assert "vegas: 100 | vegas: 100" in text  # gradient2's p99 does not count: 97 is under 0.98 of 100
    assert "| slow_dependency | 110 ms, 100/s | 1 ms, 1/s |" in worth


def test_what_the_model_is_worth_says_where_it_wins_nothing() -> None:
    others = {name: made(200, 80) for name in lineup.WITHOUT}
    won = cell(made(100, 100), **others)
    lost = cell(made(100, 80), **(others | {HARDWARE: made(50, 80)}))
    text = workloads.worth([won, lost])
    # Half of the p99 in both, and 100 / 80 and 80 / 80 of the goodput; held, 100 / 50 in the second: sqrt(0.5 * 2) = 1.
    assert "| scg with our gates | 0.50 | 1.125 | 2 of 2 | none |" in text
    assert f"| {HARDWARE} | 1.00 | 1.125 | 1 of 2 | big_spike from 20 |" in text


def test_who_completes_nothing_somewhere_has_no_ratio_there() -> None:
    others = {name: made(200, 80) for name in lineup.WITHOUT}
    none = cell(made(100, 100), **(others | {HARDWARE: made(float("inf"), 0)}))
    # 100 + 100 by 80 + 0; the p99 of the other cell alone.
    assert f"| {HARDWARE} | 0.50 | 2.500 |" in workloads.worth([none, cell(made(100, 100), **others)])
    assert f"| {HARDWARE} | - | inf |" in workloads.worth([none])


def test_regrets_are_shares_of_the_best_goodput() -> None:
    usual = dict.fromkeys(services.RACERS, 0.10) | {services.IDEAL: 0.02}
    results = [services.Regrets("usl", usual | {SLUICE: lost, HARDWARE: 0.04}) for lost in (0.0, 0.02, 0.07)]
    text = services.report(results)
    assert "holding the first size loses 5 % or more in 0 " in text
    assert f"| {SLUICE} | 2.0% | 6.5% | 7.0% | 1 |" in text
    assert f"| {SLUICE}, usl | 2.0% | 6.5% | 7.0% | 1 |" in text
    assert f"| {services.IDEAL} | 2.0% | 2.0% | 2.0% | 0 |" in text


def test_a_quarter_of_the_best_size_is_judged_by_the_best_one() -> None:
    """The step at 40 s: 6 s from 48 s on count. Nothing good at the best size either is no loss."""
    assert (quarter.part(45.0, 50.0), quarter.part(0.0, 50.0), quarter.part(0.0, 0.0)) == (0.9, 0.0, 1.0)
    drawn = step(3001, quarter.STEP_S, quarter.SECONDS)
    run = drive(drawn, HELD, 1)
    at_s, _ = run.outcomes()
    assert quarter.done(run) == np.histogram(at_s, [48.0, 54.0])[0][0]
    assert quarter.good(run) == starts.good_per_s(run)[48:54].sum()
    assert [quarter.ideal(40).build(run).decide(second, {})[POOL] for second in (43.0, 44.0)] == [10, 40]
    of = dict.fromkeys((*quarter.WHO, quarter.IDEAL), 0.95)
    text = quarter.report([quarter.Step(of, of | {SLUICE: 0.2}), quarter.Step(of, of | {SLUICE: 0.4})])
    assert f"| {SLUICE} | 0.950 | 2 of 2 | 0.300 | 0 of 2 |" in text


def test_claims_are_counted_once_the_pool_was_full_for_a_minute_and_judged_all_along() -> None:
    """Four periods, full for 60 s from the second on. Size 4 loses 10 %, 8 nothing; the third claims nothing of it."""
    states = [("PROVIDED", 4, 0.009), ("LEARNING", 4, None), ("PROVIDED", 8, 0.01), ("UNSATURATED", 8, 0.0)]
    course = [
        Course(float(at), state, None, size, (), "HELD", size, loss) for at, (state, size, loss) in enumerate(states)
    ]
    result = claims.counted("usl", course, [59.0, 60.0, 61.0, 62.0], lambda _, size: 0.1 if size == 4 else 0.0)
    assert result == claims.ServiceClaims("usl", periods=3, provided=1, claimed=2, wrong=1)
    assert "| usl | 2 | 33.3% of 6 | 50.0% of 4 |" in claims.report([result, result])
    assert "| all | 1 | - | - |" in claims.report([claims.ServiceClaims("usl", 0, 0, 0, 0)])


def test_what_a_size_loses_is_of_the_cores_and_times_of_that_second() -> None:
    """CPU only: a thread for each core, 2 of them, 4 from 20 s on. Twice the times change nothing of it."""
    drawn = Scenario.model_validate(
        {"name": "x", "seconds": 100, "slo_ms": 250, "users": 10, "think_s": 1, "load": [[0, 1]]}
        | {"service": {"cores": 2, "compute_ms": 10, "wait_ms": 0, "sigma": 0, "threads": 1}}
        | {"events": [{"at_s": 50, "compute": 2.0}]}
    )
    loss = claims.truth(drawn, [(20.0, 4.0)])
    assert [loss(second, 1) for second in (0.0, 20.0, 60.0)] == pytest.approx([0.5, 0.75, 0.75])
    assert loss(0.0, 2) == pytest.approx(0.0)
    assert loss(20.0, 2) == pytest.approx(0.5)


def test_recovery_is_the_first_second_from_which_10_s_are_near_the_best() -> None:
    best = np.full(20, 100.0)
    ours = np.concatenate([np.zeros(5), np.full(15, 100.0)])
    assert starts.recovered_s(ours, best) == 4
    assert starts.recovered_s(best, best) == 0
    assert starts.recovered_s(best / 2, best) == 20


def test_a_step_scenario_needs_all_it_can_do_at_once() -> None:
    drawn = step(2001, 31.0, 90.0)
    assert [drawn.shape(second) for second in (0, 30.9, 31, 90)] == [0.05, 0.05, 1.0, 1.0]
    assert (drawn.scaler, drawn.events, drawn.service.threads) == (None, [], scenario(2001).service.threads)


def test_good_responses_are_counted_by_second() -> None:
    run = drive(committed("rest_light").model_copy(update={"seconds": 30.0}), HELD, 1)
    good = starts.good_per_s(run)
    assert good.shape == (30,)
    assert good[10:].mean() == pytest.approx(1055, rel=0.05)


def test_the_dearest_change_is_that_with_the_least_goodput_after_it() -> None:
    best = np.full(60, 100.0)
    ours = best.copy()
    ours[25] = 90.0
    assert rest.dearest(ours, best, []) == 0
    assert rest.dearest(ours, best, [20.0, 40.0]) == pytest.approx(0.01)


def test_a_table_is_markdown() -> None:
    assert markdown(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_two_pools_are_sized_by_answers_for_each() -> None:
    """20 s; asked every 5 s with 2 s old data, answers 300 threads, clamped, and 9 connections, once."""
    given = []

    class Once:
        def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> dict[str, int]:
            given.append((now_s, {pool: len(summary.sizes) for pool, summary in windows.items()}))
            return {path.THREADS: 300, path.CONNECTIONS: 9}

    short = two_pools.TWO_WRONG_POOLS.model_copy(update={"seconds": 20.0, "events": []})
    summary = path.drive(two_pools.of_size(short, 16, 8), path.PathRacer(lambda _: Once(), 5.0, 10.0, 2.0), 1)
    assert given[:2] == [(5.0, {path.THREADS: 30, path.CONNECTIONS: 30}), (10.0, dict.fromkeys(path.POOLS, 80))]
    assert (summary.sizes, summary.changes) == ((256, 9), 2)
    assert summary.goodput_per_s == pytest.approx(610, rel=0.1)  # 0.26 of 3,900 users, a request each 1.66 s


def test_the_wrong_pair_loses_most_of_the_goodput() -> None:
    wrong, right = two_pools.run(two_pools.Try(HARDWARE, 1)), two_pools.run(two_pools.Try(HARDWARE, 1, (16, 8)))
    assert wrong.goodput_per_s < 0.5 * right.goodput_per_s


def test_a_tier_that_scales_out_with_the_papers_pools_loses_half() -> None:
    """ConScale's 60 and 40 an application server by twelve and five."""
    wrong, right = three_tiers.run(three_tiers.Try(HARDWARE, 1)), three_tiers.run(three_tiers.Try(HARDWARE, 1, (12, 5)))
    assert wrong.goodput_per_s < 0.6 * right.goodput_per_s


def test_the_oracle_of_the_tiers_has_the_pair_of_each_number_of_servers() -> None:
    seen = three_tiers.run(three_tiers.Try(None, 1, (12, 8), {2: (10, 4)}))
    assert (seen.sizes, seen.changes) == ((10, 4), 2)  # both pools once: with one server they stay as they are
    assert seen.goodput_per_s > 500


def test_the_best_pair_has_the_most_goodput_over_its_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    goodput = {(8, 4): 10.0, (8, 6): 12.0, (10, 4): 12.0}
    monkeypatch.setattr(three_tiers, "run", lambda one: path.Seen(1.0, goodput[one.pair], one.pair, 0))
    tries = {pair: [three_tiers.Try(HARDWARE, seed, pair) for seed in (11, 12)] for pair in goodput}
    assert three_tiers.most(tries, processes=1) == (8, 6)


def test_a_part_of_a_run_has_its_own_p99_and_goodput() -> None:
    """Responses at 1, 2, 3 and 4 s of 100, 300, 100 and 100 ms; within 250 ms two of three from 2 s on, in 4 s."""
    run = phases.Run(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.1, 0.3, 0.1, 0.1]), ((0.0, 10),))
    assert phases.part(run, 250, 2.0, 6.0) == phases.Part(pytest.approx(100), 0.5, pytest.approx(2 / 3))
    assert phases.part(run, 250, 5.0, 6.0) == phases.Part(float("inf"), 0.0, 0.0)


@pytest.mark.parametrize(("since", "until", "sizes"), [(20, 40, [10, 14]), (40, 60, [14]), (0, 30, [10])])
def test_sizes_in_force_are_those_of_the_time(since: float, until: float, sizes: list[int]) -> None:
    assert phases.in_force([(0.0, 10), (30.0, 14)], since, until) == sizes


def test_left_alone_the_pools_lose_after_a_drift() -> None:
    """Sora's figure 12 and ConScale's III-C: the size that was best no longer is."""
    for run, slo_ms, at_s in (
        (phases.on_path(phases.REQUESTS, HARDWARE, 1), 250, 450.0),
        (phases.one(phases.DATA, HARDWARE, 1), 250, 360.0),
    ):
        before, after = phases.part(run, slo_ms, 10.0, at_s), phases.part(run, slo_ms, at_s, 720.0)
        assert before.share > 0.9
        assert after.share < 0.5
