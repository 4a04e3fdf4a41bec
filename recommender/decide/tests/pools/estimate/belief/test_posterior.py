"""The weights of the shapes, and what they say of sizes: against the formulas, and against curves that are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.pools.estimate.belief.evidence import TAU_SATURATED, Evidence, LevelRows, Second
from sluice.pools.estimate.belief.family import SIZES, K, family
from sluice.pools.estimate.belief.posterior import NEGLIGIBLE, SPREADS, UNKNOWN, Gains, Posterior, posterior
from sluice_kit.decide.feeds import FALLS, Curve, evidence


def rows_of(shape: int, sizes: list[float], full: bool = True, ln_speed: float = 3.0) -> LevelRows:
    """What one shape of the family completes at these sizes, exactly."""
    ln_n = np.log(np.array(sizes))
    count = len(sizes)
    kind = np.full(count, full)
    rate = family().rows(ln_n, kind, np.ones(count), np.array([shape]))[0] + ln_speed
    return LevelRows(ln_n, rate, np.full(count, TAU_SATURATED**2), kind, np.ones(count))


def at(gains: Gains, *sizes: int) -> list[float]:
    return [float(gains.mean[gains.sizes == size][0]) for size in sizes]


def test_without_rows_there_is_the_prior() -> None:
    now = posterior(family(), Evidence().rows(4.0), 4.0)
    assert now.weight.sum() == pytest.approx(1)
    assert now.speed_variance == UNKNOWN
    # Normal in ln k about ln(2.5 x 4), 0.5 wide below and 1.0 above; and 0.5 wide in ln 1 / sqrt(kappa) below that.
    away = np.log(family().k[now.shapes] / 10)
    bends = np.minimum(np.log(family().peak[now.shapes] / 10), 0.0)
    likely = np.exp(-0.5 * (away / np.where(away < 0, 0.5, 1.0)) ** 2 - 0.5 * (bends / 0.5) ** 2)
    assert now.weight == pytest.approx(likely / likely.sum())
    # To 1e-4: 4.3 widths either way, within the k that there are.
    assert (away.min(), away.max()) == (pytest.approx(-2.15, abs=0.18), pytest.approx(np.log(25.6)))


def test_without_told_cores_the_prior_is_about_10_and_wide() -> None:
    now = posterior(family(), Evidence().rows(0.0), 0.0)
    likely = np.exp(-0.5 * (np.log(family().k[now.shapes] / 10) / 1.5) ** 2)
    assert now.weight == pytest.approx(likely / likely.sum())
    # ln(256 / 10) is 3.2, 2.2 widths: any k may be.
    assert len(now.shapes) == len(family())
    known = posterior(family(), evidence(8, 16, 32, 64, cores=0.0).rows(0.0), 0.0)
    truth = np.log([FALLS.throughput(n) / FALLS.throughput(64) for n in (8, 16, 32)])
    assert at(known.gains(64, 8, 16, 32), 8, 16, 32) == pytest.approx(truth, abs=0.02)


def test_one_row_says_the_scale_and_nothing_of_the_shape() -> None:
    before = posterior(family(), Evidence().rows(4.0), 4.0)
    now = posterior(family(), evidence(20).rows(4.0), 4.0)
    # All residuals are taken up by the scale: the weights are those of the prior.
    assert now.residual == pytest.approx(0.0, abs=1e-12)
    assert now.weight == pytest.approx(before.weight)
    mean, variance = now.predict(20, full=True)
    assert mean == pytest.approx(np.log(FALLS.throughput(20)))
    # v + s^2 of the row, of which what is near explains s^2: v is left.
    assert variance == pytest.approx(now.rows.variance[0])


@given(
    st.integers(0, 2_078), st.lists(st.sampled_from([2, 4, 8, 16, 32, 64, 128]), max_size=5, unique=True), st.booleans()
)
@settings(deadline=None, max_examples=30)
def test_weights_are_probabilities(shape: int, sizes: list[int], full: bool) -> None:
    now = posterior(family(), rows_of(shape, [float(size) for size in sizes], full), 4.0)
    assert now.weight.sum() == pytest.approx(1)
    assert (now.weight > 0).all()
    assert (now.weight >= 0.99 * NEGLIGIBLE * now.weight.max()).all()
    assert len(now.shapes) == len(now.weight) == len(now.ln_speed) == len(now.residual)
    assert (np.diff(now.shapes) > 0).all()
    assert now.spread in SPREADS


@given(
    st.integers(1, 30).filter(lambda k: k != 3),
    st.integers(0, 62),
    st.floats(1.0, 8.0),
)
@settings(deadline=None, max_examples=30)
def test_exact_rows_of_a_shape_name_its_best_size(k: int, rest: int, ln_speed: float) -> None:
    """Or one that loses less than 1 % by that shape: where it is flat no size is best."""
    shape = k * family().stride + rest
    sizes = np.unique(np.round(np.exp(np.linspace(0, np.log(400), 16)))).tolist()
    cores = float(family().k[shape]) / 2.5
    now = posterior(family(), rows_of(shape, sizes, ln_speed=ln_speed), cores)
    assert shape in now.shapes
    gains = now.gains(10)
    truth = family().full(np.log(SIZES), np.array([shape]))[0]
    assert truth[gains.mean.argmax()] >= truth.max() - 0.01
    tops = np.flatnonzero(truth >= truth.max() - 0.0005)
    assert tops[0] - 1 <= gains.mean.argmax() <= tops[-1] + 1


@pytest.mark.parametrize("current", [2, 16, 64, 400])
def test_a_size_gains_nothing_over_itself(current: int) -> None:
    now = posterior(family(), evidence(8, 16, 32, 64).rows(4.0), 4.0)
    gains = now.gains(current)
    assert gains.sizes[gains.current_at] == current
    assert gains.mean[gains.current_at] == pytest.approx(0.0, abs=1e-12)
    assert gains.variance[gains.current_at] == pytest.approx(0.0, abs=1e-9)


def test_gains_are_those_of_the_curve_that_was_seen() -> None:
    now = posterior(family(), evidence(8, 16, 32, 64).rows(4.0), 4.0)
    gains = now.gains(64, 8, 16, 32)
    truth = np.log([FALLS.throughput(n) / FALLS.throughput(64) for n in (8, 16, 32, 64)])
    # Each within twice the error that a row has.
    assert at(gains, 8, 16, 32, 64) == pytest.approx(truth, abs=0.02)
    assert (gains.variance >= 0).all()


def test_where_nothing_was_seen_the_variance_is_larger() -> None:
    now = posterior(family(), evidence(8, 10, 12, curve=Curve(crosstalk=0.0)).rows(4.0), 4.0)
    near, far = (now.predict(n, full=True)[1] for n in (10.0, 200.0))
    assert far > 20 * near


def test_what_is_nothing_like_the_family_is_interpolated() -> None:
    """A cliff: as many threads as are wanted until 30, and a third of it beyond."""
    seen = Evidence()
    for size, rate in ((5, 50.0), (10, 100.0), (20, 200.0), (28, 280.0), (33, 90.0), (40, 90.0), (60, 90.0)):
        for _ in range(20):
            seen = seen.with_second(Second(4.0, True, True, float(size), rate * 10, 1.0))
    now = posterior(family(), seen.rows(4.0), 4.0)
    assert now.spread == SPREADS[-1]
    assert at(now.gains(60, 20, 28, 40), 20, 28, 40) == pytest.approx(np.log([200 / 90, 280 / 90, 1.0]), abs=0.1)


def test_what_was_seen_on_other_cores_names_the_best_size_of_these() -> None:
    """Rows of 4 cores of a shape whose k on 8 is twice that (4 steps of ln 256 / 32 in ln k): half of that there."""
    shapes = family()
    shape = 18 * shapes.stride + 20
    scale = np.full(8, float(K[0] / K[4]))
    ln_n, kind = np.log(np.array([2.0, 4, 8, 16, 32, 64, 128, 256])), np.ones(8, dtype=bool)
    rate = shapes.rows(ln_n, kind, scale, np.array([shape]))[0]
    assert rate == pytest.approx(shapes.full(ln_n, np.array([shape - 4 * shapes.stride]))[0])
    now = posterior(shapes, LevelRows(ln_n, rate, np.full(8, 0.01), kind, scale), float(shapes.k[shape]) / 2.5)
    assert shape in now.shapes
    # Rows of other cores are no neighbours of sizes on these: only the shapes carry over.
    gains = now.gains(8)
    alone = shapes.sized[now.shapes]
    assert gains.of_shape == pytest.approx(alone - alone[:, [gains.current_at]])
    truth = shapes.full(np.log(SIZES), np.array([shape]))[0]
    assert truth[now.gains(10).mean.argmax()] >= truth.max() - 0.01


def test_sizes_that_are_not_thought_of_are_asked_for() -> None:
    """31, 33 and 79 are between those; each as the curve of a shape that is exactly known has it."""
    assert not {31, 33, 79} & set(SIZES.tolist())
    now = posterior(family(), rows_of(400, [4.0, 8.0, 16.0, 31.0, 33.0, 79.0, 160.0]), 4.0)
    gains = now.gains(31, 79, 33)
    assert gains.sizes.tolist() == [*SIZES.tolist(), 31, 33, 79]
    assert gains.sizes[gains.current_at] == 31
    shape = family().full(np.log(np.array([31.0, 33.0, 79.0])), np.array([400]))[0]
    assert at(gains, 31, 33, 79) == pytest.approx(shape - shape[0], abs=0.005)
    # What is asked for changes nothing of the others.
    assert gains.variance[: len(SIZES)] == pytest.approx(now.gains(31).variance[: len(SIZES)])


def test_tables_of_the_sizes_are_those_of_the_grid() -> None:
    shapes = np.array([0, 700, 2_078])
    assert family().sized[shapes] == pytest.approx(family().full(np.log(SIZES), shapes))


def test_only_the_shapes_that_are_given_are_looked_at() -> None:
    rows = evidence(8, 16, 32).rows(4.0)
    everything = posterior(family(), rows, 4.0)
    again = posterior(family(), rows, 4.0, everything.shapes)
    assert again.shapes.tolist() == everything.shapes.tolist()
    assert again.weight == pytest.approx(everything.weight)
    assert again.gains(16).mean == pytest.approx(everything.gains(16).mean)


def test_predictions_are_the_mixture_over_shapes() -> None:
    now = posterior(family(), evidence(16).rows(4.0), 4.0)
    mean, variance = now.predict(64.0, full=True)
    shapes = family().full(np.log([64.0]), now.shapes)[:, 0] + now.ln_speed
    assert mean == pytest.approx(float(now.weight @ shapes))
    assert variance >= float(now.weight @ (shapes - mean) ** 2)
    assert isinstance(now, Posterior)


def test_a_tenth_of_a_request_in_flight_says_what_a_thread_does() -> None:
    """80 a second a thread: 8, 16 and 32 of them with 0.1, 0.2 and 0.4 in flight, 160 in a full pool of 2. No thread
    waited for another yet, so 4 complete nearly twice as many."""
    few = [Second(4.0, False, False, n, 80.0 * n * 10, 10.0) for n in (0.1, 0.2, 0.4)]
    seen = Evidence()
    for each in (*few, Second(4.0, True, True, 2.0, 1_600.0, 10.0)):
        seen = seen.with_second(each)
    now = posterior(family(), seen.rows(4.0), 4.0)
    assert now.spread == SPREADS[0]
    assert at(now.gains(2), 4)[0] == pytest.approx(np.log(2), abs=0.15)
