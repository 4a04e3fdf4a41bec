"""What is compiled of `worth.py` says what its formulas do, written over whole arrays."""

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from sluice.fast import worth as given
from sluice.pools.estimate.belief.cache import believed
from sluice.pools.estimate.belief.evidence import TAU_SATURATED, Evidence, Second
from sluice.pools.estimate.belief.family import SIZES, Floats
from sluice.pools.estimate.belief.posterior import NONE, Gains, Posterior
from sluice.pools.policy.worth import Outlook, Prospects, Situation, _before_the_edge, choose, prospects
from sluice_kit.decide.feeds import FALLS, Curve, evidence

STRAIGHT = Curve(contention=0.0, crosstalk=0.0)


def where_it_gains(mean: Floats, deviation: Floats) -> Floats:
    z = mean / deviation
    return deviation * (z * ndtr(z) + np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi))


def test_the_chance_to_be_in_time_is_that_of_the_normal_distribution() -> None:
    for z in (-900.0, -60.0, -36.1, -35.9, -20.0, -5.0, -1.01, -0.99, 0.0, 2.0, 4.0):
        assert given.ln_phi(z) == pytest.approx(log_ndtr(z), rel=1e-13)


@pytest.mark.parametrize("spared", [0.0, given.HALF])
def test_the_part_in_time_is_within_1e_12_of_that_chance(spared: float) -> None:
    none, one = np.zeros(1), np.ones(1)
    for z in np.linspace(-40.0, 4.0, 1_999, endpoint=False):
        found = given._in_time(np.array([z * given.LATENCY_SPREAD]), none, one, 0.0, spared)
        assert found == pytest.approx(min(log_ndtr(z) + spared, 0.0), rel=1e-12, abs=1e-12)


def plain_outlook(now: Posterior, gains: Gains, mean: Floats) -> Outlook:
    """mean: of each size, with what is in time there."""
    near = gains.sizes[mean >= mean.max() - 0.01]
    most, at = gains.of_shape.max(axis=1), int(mean.argmax())
    lost, hope = most - gains.of_shape[:, at], _before_the_edge(gains)

    def missed(gain: Floats, variance: Floats) -> float:
        return float(-np.expm1(-where_it_gains(gain, np.sqrt(variance + 1e-12)).max()))

    from_best = np.abs(gains.variance - gains.variance[at])
    return Outlook(
        int(gains.sizes[at]),
        int(near.min()),
        int(near.max()),
        max(float(now.weight @ -np.expm1(-most - hope)), missed(mean, gains.variance)),
        max(float(now.weight @ -np.expm1(-lost - hope)), missed(mean - mean[at], from_best)),
        float(now.weight @ (lost < given.NEARLY_BEST)),
        gain=float(mean[at]),
        sure_by=float(mean[at] / np.sqrt(gains.variance[at] + 1e-12)),
    )


def plain_prospects(now: Posterior, current: int, within: tuple[int, int], slo_s: float, callers: int) -> Prospects:
    least, most = within
    gains = now.gains(current, *((least, most) if least <= most else ()))
    reach = (gains.sizes >= least) & (gains.sizes <= most)
    reach[gains.current_at] = True
    within = np.flatnonzero(reach)
    within = within[np.argsort(gains.sizes[within])]
    sizes, at = gains.sizes[within], int((within == gains.current_at).argmax())
    every, rate, lost = gains.mean.copy(), 0.0, np.zeros(len(within))
    if len(now.rows) > 0:
        early = gains.of_shape + gains.ln_rate_now[:, None] + np.log(slo_s) - np.log(gains.sizes)
        early /= given.LATENCY_SPREAD
        late = now.weight @ np.where(early < given.IN_TIME, log_ndtr(early), 0.0)
        spared = now.weight @ np.where(early < given.IN_TIME, np.minimum(log_ndtr(early) + np.log(2), 0.0), 0.0)
        called = np.flatnonzero(gains.sizes <= callers)
        if len(called):
            largest = called[gains.sizes[called].argmax()]
            late = np.where(gains.sizes <= callers, spared, late + spared[largest] - late[largest])
        # Of what is out of reach and behind the best within it anyway it is not asked how late it is.
        behind = ~reach & (every < (every + late)[within].max() - given.RANGE)
        every += np.where(behind, 0.0, late) - late[gains.current_at]
        ln_rate = float(now.weight @ gains.ln_rate_now)
        rate = float(np.exp(ln_rate))
        if now.edge is not None:
            lost = ln_rate - now.edge.fallen(np.log(sizes))
    return Prospects(
        sizes,
        at,
        every[within],
        gains.variance[within],
        rate,
        gains.falls[within],
        gains.smooth[within],
        lost,
        plain_outlook(now, gains, every),
    )


def beliefs() -> list[Posterior]:
    """Of nothing, of smooth curves, and of one with an edge."""
    fell = evidence(16, 20, curve=STRAIGHT)
    for _ in range(3):
        fell = fell.with_second(Second(4.0, True, True, 40.0, 0.2 * STRAIGHT.throughput(20), 1.0))
    seen = [Evidence(), evidence(16), evidence(8, 16, 32), evidence(4, 20, 64, curve=Curve(speed=5.0)), fell]
    return [believed(None, each, 4.0).now for each in seen]


# Of what size, the sizes within reach, the SLO in s, callers.
ASKED = (
    (16, (8, 32), 0.1, 0),
    (20, (10, 40), 10.0, 25),
    (33, (17, 66), 0.5, 40),
    (33, (17, 66), 0.05, 20),
    (700, (1, 900), 0.05, 10_000),
    (5, (9, 7), 1.0, 0),
)


def test_prospects_are_of_the_formulas() -> None:
    edges = 0
    for now in beliefs():
        edges += now.edge is not None
        for asked in ASKED:
            found, plain = prospects(now, *asked[:3], callers=asked[3]), plain_prospects(now, *asked)
            assert found.sizes.tolist() == plain.sizes.tolist()
            assert found.current_at == plain.current_at
            for name in ("mean", "variance", "rate", "falls", "smooth", "lost"):
                assert getattr(found, name) == pytest.approx(getattr(plain, name), rel=1e-9, abs=1e-12), (asked, name)
            full = now.predict_each(SIZES.astype(float), np.ones(len(SIZES), dtype=bool))[0]
            assert found.expected == pytest.approx(full if len(now.rows) > 0 else NONE, abs=1e-9)
            for name in Outlook.__dataclass_fields__:
                ours, theirs = getattr(found.outlook, name), getattr(plain.outlook, name)
                assert (ours, theirs) == (None, None) or ours == pytest.approx(theirs, rel=1e-9, abs=1e-12), (
                    asked,
                    name,
                )
    assert edges


def plain_choice(of: Prospects, counts: Floats, asked: Situation) -> tuple[int, bool] | None:
    """The size, and whether it is a look."""
    sizes, at, mean, deviation = of.sizes, of.current_at, of.mean, np.sqrt(of.variance + 1e-12)
    current = int(sizes[at])
    near = (sizes <= max(current * given.LOOK_FACTOR, current + 1)) & (
        sizes >= min(current / given.LOOK_FACTOR, current - 1)
    )
    look_s = given.look_s(of.rate, float(deviation[near].max()))
    if asked.queues:
        near |= (sizes > current) & (sizes <= min(current + given.QUEUE_MORE, given.QUEUE_FACTOR * current))
    near &= of.falls <= given.EDGE_CHANCE
    learnt = of.variance / np.sqrt(of.variance + 1 / max(of.rate * look_s, 1.0) + TAU_SATURATED**2)
    visited, of_here = counts > 0, 1 / counts[at] if counts[at] else 0.01
    learnt[visited] = np.minimum(learnt[visited], np.sqrt(1 / counts[visited] + of_here))
    top = mean.max()
    other = np.where(mean >= top, np.sort(mean)[-2] if len(mean) > 1 else top, top)
    gradient = where_it_gains(-np.abs(mean - other), np.maximum(learnt, 1e-9))
    score = mean + given.LOOKS_SERVED * asked.full_share * gradient
    back = (sizes == asked.left) & (asked.since_change_s >= look_s) & (counts > 0)
    sure_by = np.where(asked.queues & (sizes < current), given.QUEUE_SURE_BY, given.SURE_BY)
    better = (mean > given.LEAST_GAIN) & ((mean > sure_by * deviation) | back)
    if asked.full_share < given.FULL_SHARE:
        better = (mean > given.LIGHT_GAIN) & (mean > given.LIGHT_SURE_BY * deviation)
    look, may_look = np.zeros(len(sizes), dtype=bool), asked.may_look and asked.full_share >= given.LOOK_SHARE
    if may_look and asked.since_change_s >= look_s:
        look = near & (mean > -given.LOOK_LOSS) & (mean + given.ONE_IN_TEN * learnt > given.LOOK_GAIN)
        look &= (of.rate == 0) | (asked.since_change_s >= given.AGAIN * counts / max(of.rate, 1e-9))
    better[at] = look[at] = False
    if may_look and asked.since_change_s >= given.SHORTEST_LOOK_S and not better.any():
        worth = given.LOOKS_SERVED * (1 - of.falls) * np.expm1(of.smooth)
        worth += given.COMES_BACK * of.falls * np.expm1(-of.lost)
        worth[(of.falls <= 0) | ((of.falls > given.EDGE_CHANCE) & (sizes != current + 1)) | (of.falls >= 1)] = 0.0
        worth[: at + 1] = 0.0
        if worth.max() > 0:
            return int(sizes[worth.argmax()]), True
    for allowed, by in ((better, mean), (look, score)):
        if allowed.any():
            best = int(np.flatnonzero(allowed)[np.argmax(by[allowed])])
            if by[best] > given.LEAST_GAIN + max(0.0, float(by[at])):
                return int(sizes[best]), by is score
    return None


def test_the_choice_is_of_the_formulas() -> None:
    found = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        sizes = np.arange(1, int(rng.integers(2, 40)))
        at = int(rng.integers(len(sizes)))
        mean = rng.normal(-0.01, rng.choice((0.002, 0.02)), len(sizes))
        falls = np.where(sizes > sizes[at] + 3, rng.random(len(sizes)), 0.0) * (rng.random() < 0.3)
        mean[at] = 0.0
        variance = rng.choice((1e-6, 1e-4, 1e-3)) * rng.random(len(sizes))
        rate, lost = float(rng.choice((0.0, 5.0, 900.0))), rng.random(len(sizes)) * (falls > 0)
        of = Prospects(
            sizes,
            at,
            mean,
            variance,
            rate,
            falls,
            mean + 0.1,
            lost,
            Outlook(1, 1, 1, 0),
        )
        counts = rng.choice((0.0, 50.0, 4_000.0), len(sizes))
        asked = Situation(
            full_share=float(rng.choice((0.0, 0.6, 1.0))),
            since_change_s=float(rng.choice((1.0, 5.0, 40.0))),
            may_look=bool(rng.random() < 0.8),
            left=int(rng.choice(sizes)) if rng.random() < 0.5 else None,
            queues=bool(rng.random() < 0.5),
        )
        ours, plain = choose(of, asked, lambda _, c=counts: c), plain_choice(of, counts, asked)
        assert (ours and (ours.size, ours.look)) == plain, seed
        found.append(plain)
    assert {None if each is None else each[1] for each in found} == {None, True, False}


def test_a_belief_over_a_real_curve_chooses_as_the_formulas_do() -> None:
    seen = evidence(8, 16, 32, 64, curve=FALLS)
    of = prospects(believed(None, seen, 4.0).now, 64, (32, 128), 10.0)
    ours = choose(of, Situation(1.0), lambda sizes: seen.completions_at(4.0, sizes))
    assert ours is not None
    assert (ours.size, ours.look) == plain_choice(of, seen.completions_at(4.0, of.sizes), Situation(1.0))
