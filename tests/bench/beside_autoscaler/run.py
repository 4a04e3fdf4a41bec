"""All runs of the bench, one after the other; each is kept when it is over, so that an interrupted bench goes on."""

import shutil
from functools import partial

from bench.beside_autoscaler.arms import AFTER, ARMS, SHIPPED_ALONE, Arm
from bench.beside_autoscaler.course import SWEPT, ran, swept
from bench.beside_autoscaler.judged import table
from bench.kept import asked_seeds, keep, kept
from bench.results import OUT
from support.stack import drive, start_anew

SECONDS = 300.0


def run(quick: bool = False) -> str:
    """The table. `SEEDS=4,5` takes other seeds than 1 to 3. What `out/beside-autoscaler` has is not run again."""
    seeds = asked_seeds((1,) if quick else (1, 2, 3))
    folder = OUT / ("beside-autoscaler-quick" if quick else "beside-autoscaler")
    if quick:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    runs = [(arm, seed) for seed in seeds for arm in _in_turn((SHIPPED_ALONE, AFTER) if quick else ARMS, seed)]
    files = {(arm, seed): folder / f"{arm.name}-{seed}.json" for arm, seed in runs}
    sweep = folder / "sweep.json"
    if not all(path.exists() for path in (sweep, *files.values())):
        try:
            start_anew()
            keep(sweep, partial(swept, 3.0, (4, 16, 64)) if quick else partial(swept, 8.0, SWEPT))
            sized: int = kept(sweep)["sized"]
            for (arm, seed), path in files.items():
                keep(path, partial(ran, arm, arm.threads or sized, seed, 45.0 if quick else SECONDS))
        finally:
            drive("down")
    return table([kept(path) for path in files.values()], kept(sweep))


def _in_turn(arms: tuple[Arm, ...], seed: int) -> tuple[Arm, ...]:
    """Another one begins with each seed, so that a slow hour of the machine meets all."""
    return arms[seed % len(arms) :] + arms[: seed % len(arms)]
