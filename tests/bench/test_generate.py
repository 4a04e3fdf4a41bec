"""Random scenarios: legal, the same again, spread over what they may be, and such that their load saturates."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bench import generate
from testbed.single.capacity import throughput
from testbed.single.reading import load, write

SEEDS = range(2000, 2060)


def test_a_seed_gives_the_same_scenario_again_and_others_give_others() -> None:
    texts = [write(generate.scenario(seed)) for seed in SEEDS]
    assert texts == [write(generate.scenario(seed)) for seed in SEEDS]
    assert len(set(texts)) == len(SEEDS)


def test_everything_occurs() -> None:
    drawn = [generate.scenario(seed) for seed in SEEDS]
    assert set(Counter(item.law.kind for item in drawn)) == {"usl", "cliff", "convoy", "pauses"}
    for part in (
        lambda item: item.scaler is not None,
        lambda item: item.dependency.slots > 0,
        lambda item: bool(item.events),
        lambda item: item.service.contention > 0,
    ):
        assert 0 < sum(map(part, drawn)) < len(drawn)


def test_starts_are_log_uniform_from_2_to_128() -> None:
    starts = np.array([generate.scenario(seed).service.threads for seed in range(2000, 2200)])
    assert (starts.min() >= 2, starts.max() <= 128) == (True, True)
    share = [(starts < edge).mean() for edge in (4, 8, 16, 32, 64)]
    assert share == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6], abs=0.08)


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_the_peak_is_what_the_best_size_serves_within_the_slo(seed: int) -> None:
    """All users are there for 15 to 40 % of the time: then X think to X (think + SLO) of them."""
    drawn = generate.scenario(seed)
    most = throughput(drawn, generate.MOST, drawn.scaler.highest if drawn.scaler else None).max()
    slack = 1.01  # three digits
    assert most * drawn.think_s / slack < drawn.users < most * (drawn.think_s + drawn.slo_ms / 1e3) * slack
    if not drawn.events:
        shares = np.array([drawn.shape(second) for second in np.arange(0.0, drawn.seconds, 0.5)])
        assert shares.max() == 1.0
        assert 0.05 < (shares > 0.98).mean() < 0.5


def test_loads_remember_where_they_were() -> None:
    """Levels 20 s apart have more to do with each other than levels 200 s apart."""

    def alike(lag: int) -> float:
        results = []
        for seed in SEEDS:
            shape = generate.scenario(seed).shape
            levels = np.array([shape(second) for second in range(10, 590, 10)])
            if levels.std() > 0:
                results.append(np.corrcoef(levels[:-lag], levels[lag:])[0, 1])
        return float(np.mean(results))

    assert alike(2) > alike(20) + 0.2


def test_the_command_writes_files(tmp_path: Path) -> None:
    generate.main(["--seeds", "2000..2002", "--to", str(tmp_path / "new")])
    paths = sorted((tmp_path / "new").iterdir())
    assert [load(path) for path in paths] == [generate.scenario(seed) for seed in (2000, 2001, 2002)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seeds", "5"], "'5' is not legal; legal: two integers"),
        (["--seeds", "9..5"], "'9..5' is not legal"),
        (["--seeds", "1..2"], "give --to DIR or --check"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        generate.main(arguments)
    assert message in capsys.readouterr().err
