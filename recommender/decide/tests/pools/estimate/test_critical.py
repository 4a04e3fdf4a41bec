"""Localization of the critical service, with sums worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.estimate.critical import Localization, PathTimes, correlation, localize, share_at

MS = 10**6


def times(
    service: str,
    blame_ms: list[int],
    e2e_ms: list[int],
    cpu: float | None = None,
    p50: float = 10.0,
    p99: float = 20.0,
    own_ms: int = 0,
    wait_ms: int = 0,
    pool: int | None = None,
    in_flight: float | None = None,
) -> PathTimes:
    """own_ms, wait_ms: of each trace."""
    x, y = [each * MS for each in blame_ms], [each * MS for each in e2e_ms]
    squares = (sum(a * a for a in x), sum(y), sum(b * b for b in y), sum(a * b for a, b in zip(x, y, strict=True)))
    sums = (own_ms * len(x) * MS, wait_ms * len(x) * MS)
    return PathTimes(service, len(x), sum(x), *squares, *sums, p50, p99, cpu, pool, in_flight)


# 40 traces: the frontend takes 10 ms or 12 ms by turns, cart 10, 20, 30, 40 ms; they end to end.
FRONT = [10, 12] * 20
CART = [10, 20, 30, 40] * 10
WHOLE = [a + b for a, b in zip(FRONT, CART, strict=True)]


def test_the_service_that_takes_most_of_the_time_comes_first() -> None:
    found = localize("frontend", [times("frontend", FRONT, WHOLE), times("cart", CART, WHOLE, p50=20, p99=80)])
    assert (found.critical, found.traces) == ("cart", 40)
    cart, front = found.ranking
    # Cart by its four pairs (10, 20), (20, 32), (30, 40), (40, 52), about their means (25, 36): 520 / sqrt(500 x 544).
    assert cart.correlation == pytest.approx(520 / (500 * 544) ** 0.5)
    # The frontend by (10, 20), (12, 32), (10, 40), (12, 52), about (11, 36): 24 / sqrt(4 x 544).
    assert front.correlation == pytest.approx(24 / (4 * 544) ** 0.5)
    assert (cart.blame_ms, cart.share_of_end_to_end, cart.share_of_traces) == (25.0, 25 / 36, 1.0)
    assert cart.congestion_ratio == 4.0
    assert [reason.code for reason in found.reasons] == ["LARGE_SHARE", "MOVES_WITH_END_TO_END", "CONGESTED"]
    assert found.reasons[0].text == "69% of the end to end time is its blame"
    assert [note.code for note in found.notes] == ["CPU_UNKNOWN"]


def test_shares_of_the_p95_by_regression() -> None:
    """Cart: 25 + (52 - 36) x 520 / 544 of 52 ms. The frontend: 11 + 16 x 24 / 544. Together they are all of it."""
    services = [times("frontend", FRONT, WHOLE), times("cart", CART, WHOLE)]
    found = localize("frontend", [replace(service, e2e_p95_ms=52.0) for service in services])
    shares = {ranked.service: ranked.share_of_p95 for ranked in found.ranking}
    assert shares["cart"] == pytest.approx((25 + 16 * 520 / 544) / 52)
    assert shares["frontend"] == pytest.approx((11 + 16 * 24 / 544) / 52)
    assert sum(share or 0.0 for share in shares.values()) == pytest.approx(1.0)
    assert found.p95_ms == 52.0
    assert localize("frontend", services).ranking[0].share_of_p95 is None


@given(st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 10**4)), min_size=30, max_size=60), st.floats(0.1, 1e5))
def test_shares_of_a_constant_or_changing_time_are_legal(pairs: list[tuple[int, int]], p95_ms: float) -> None:
    front, cart = (list(column) for column in zip(*pairs, strict=True))
    whole = [a + b for a, b in pairs]
    all_of_it = times("frontend", front, whole)
    one, two = (share_at(of, all_of_it, p95_ms) for of in (all_of_it, times("cart", cart, whole)))
    assert 0 <= one <= 1
    assert 0 <= two <= 1
    if 0 < one < 1 and 0 < two < 1 and len(set(whole)) > 1:
        assert one + two == pytest.approx(1.0)


def test_a_long_wait_for_threads_is_said_of_the_service_that_owns_them() -> None:
    """Of 36 ms, 4 ms are a wait for the frontend's threads, which cart holds: 11 % of the end to end time."""
    found = localize(
        "frontend",
        [
            times("frontend", FRONT, WHOLE, own_ms=9, wait_ms=4, pool=8, in_flight=7.6),
            times("cart", CART, WHOLE, own_ms=20, wait_ms=3),
        ],
    )
    cart, front = found.ranking
    assert found.critical == "cart"
    assert (cart.mean_ms, cart.wait_ms, front.mean_ms, front.wait_ms) == (20.0, 3.0, 9.0, 4.0)
    assert [reason.code for reason in cart.reasons] == ["LARGE_SHARE", "MOVES_WITH_END_TO_END"]
    assert front.reasons[-1].code == "THREADS_TAKEN"
    assert front.reasons[-1].text == (
        "requests wait for its threads for 11% of the end to end time, "
        "with 8 of 8 of its threads in flight at the most, by its spans"
    )


@pytest.mark.parametrize(
    ("pool", "in_flight", "code", "text"),
    [
        # Node's maxSockets of 3, towards 200 threads; 99.9 and 100 are on either side of half.
        (200, 3.0, "CALLERS_WAIT", "with 3 of 200 of its threads in flight at the most, by its spans: the limit is on"),
        (200, 99.9, "CALLERS_WAIT", "requests wait 30% of the end to end time before they reach it"),
        (200, 100.0, "THREADS_TAKEN", "30% of the end to end time, with 100 of 200 of its threads"),
        (200, None, "THREADS_TAKEN", "how many it has in flight is not known, and it may be either"),
        (None, 3.0, "THREADS_TAKEN", "the size of its pool is not known, and it may be either"),
        (None, None, "THREADS_TAKEN", "or for connections of its callers"),
    ],
)
def test_a_wait_is_the_callers_where_the_pool_is_not_half_full(
    pool: int | None, in_flight: float | None, code: str, text: str
) -> None:
    """3 ms of 10 ms."""
    waits = times("cart", [2] * 40, [10] * 40, wait_ms=3, pool=pool, in_flight=in_flight)
    found = localize("frontend", [times("frontend", [8] * 40, [10] * 40), waits])
    (cart,) = (each for each in found.ranking if each.service == "cart")
    (reason,) = cart.reasons
    assert reason.code == code
    assert text in reason.text
    assert (cart.pool, cart.in_flight) == (pool, in_flight)


def test_a_slow_service_on_all_paths_outranks_a_healthy_one_on_some() -> None:
    """Cart is slow for all: 60 ms of a mean of 90. Orders takes 60 ms of every second request: whether it was called is
    all that moves the end to end time, with a correlation of 1."""
    orders, whole = [0, 60] * 20, [60, 120] * 20
    rare = times("orders", orders[1::2], whole[1::2])
    found = localize("frontend", [times("frontend", [0] * 40, whole), times("cart", [60] * 40, whole), rare])
    assert [each.service for each in found.ranking] == ["cart", "orders", "frontend"]
    assert [each.correlation for each in found.ranking] == [None, pytest.approx(1.0), None]
    assert found.critical == "cart"
    assert [reason.code for reason in found.reasons] == ["LARGE_SHARE"]


def test_what_takes_longer_than_usual_outranks_what_always_takes_most() -> None:
    """Catalogue takes 50 ms as ever. Cart takes 40 ms instead of 10, so that the end to end time of 91 is 30 over the
    usual 61; 67.1 would be 10 % over it."""
    whole = [91] * 40

    def of(usual_e2e_ms: float | None) -> Localization:
        front = times("frontend", [1] * 40, whole)
        rest = [(times("catalogue", [50] * 40, whole), 50.0), (times("cart", [40] * 40, whole), 10.0), (front, None)]
        return localize("frontend", [replace(one, usual_ms=ms, usual_e2e_ms=usual_e2e_ms) for one, ms in rest])

    slower = of(61.0)
    longer = [(one.service, one.longer_ms) for one in slower.ranking]
    assert longer == [("cart", 30.0), ("frontend", 1.0), ("catalogue", 0.0)]
    assert slower.critical == "cart"
    assert slower.reasons[0].text == "it takes 30 ms longer than usual; 61 ms are usual end to end"
    as_ever = of(83.0)  # 91.3 would be 10 % over it
    assert (as_ever.critical, as_ever.ranking[1].longer_ms) == ("catalogue", 30.0)
    assert "LONGER_THAN_USUAL" not in {reason.code for one in as_ever.ranking for reason in one.reasons}
    assert (of(None).critical, of(None).ranking[0].longer_ms) == ("catalogue", None)


def test_a_busy_cpu_outranks_a_share() -> None:
    """What takes long may do so for another's sake: the CPU knows better."""
    found = localize("frontend", [times("frontend", CART, WHOLE, cpu=0.3), times("cart", FRONT, WHOLE, cpu=0.8)])
    assert found.critical == "cart"
    assert found.reasons[0].text == "CPU at 80% of its limit"
    assert found.notes == ()
    nearly = localize("frontend", [times("frontend", CART, WHOLE, cpu=0.3), times("cart", FRONT, WHOLE, cpu=0.79)])
    assert nearly.critical == "frontend"


def test_a_service_that_few_paths_lead_through_explains_little() -> None:
    """Five slow calls of mail among 40 traces of 36 ms: correlated among themselves, and not with the whole."""
    whole = WHOLE
    rare = times("mail", [1, 2, 3, 4, 5], [31, 32, 33, 34, 35])
    alone = correlation(
        5, *(getattr(rare, name) for name in ("blame_sum", "blame_sum2", "e2e_sum", "e2e_sum2", "blame_x_e2e"))
    )
    assert alone == pytest.approx(1.0)
    found = localize("frontend", [times("frontend", FRONT, whole), times("cart", CART, whole), rare])
    assert found.critical == "cart"
    mail = next(each for each in found.ranking if each.service == "mail")
    # n Sxy - Sx Sy = 40 x 505 - 15 x 1440, below 0
    assert mail.correlation is not None
    assert mail.correlation < 0
    assert mail.share_of_traces == 0.125


def test_too_few_traces_rank_nothing() -> None:
    found = localize("frontend", [times("frontend", FRONT[:29], WHOLE[:29])])
    assert (found.critical, found.ranking) == (None, ())
    assert found.reasons[0].text == "29 complete traces, 30 are needed"
    assert localize("frontend", []).reasons[0].code == "TOO_FEW_TRACES"


def test_nothing_moves_and_no_cpu_is_busy() -> None:
    names = ("frontend", "cart", "orders", "user")
    found = localize("frontend", [times(name, [5] * 40, [20] * 40) for name in names])
    assert found.critical is None
    assert found.reasons[0].code == "NO_BOTTLENECK"
    assert [each.correlation for each in found.ranking] == [None] * 4


@pytest.mark.parametrize(
    ("sums", "expected"),
    [
        ((3, 6, 14, 60, 1400, 130), 0.5),
        ((2, 3, 5, 30, 500, 50), 1.0),
        ((2, 3, 5, 30, 500, 40), -1.0),
        ((0, 0, 0, 0, 0, 0), None),
        ((1, 5, 25, 7, 49, 35), None),
        ((2, 10, 50, 16, 130, 80), None),
    ],
)
def test_correlations_from_sums(sums: tuple[int, int, int, int, int, int], expected: float | None) -> None:
    """The pairs (1, 10), (2, 30), (3, 20); (1, 10), (2, 20); (1, 20), (2, 10); none; one; two with the same x."""
    assert correlation(*sums) == (expected if expected is None else pytest.approx(expected, abs=1e-15))


@given(st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 10**12)), min_size=2, max_size=50))
def test_correlations_are_those_of_numpy_and_stay_within_one(pairs: list[tuple[int, int]]) -> None:
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    got = correlation(
        len(x), sum(x), sum(a * a for a in x), sum(y), sum(b * b for b in y), sum(a * b for a, b in pairs)
    )
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert got is None
    else:
        assert got is not None
        assert -1 <= got <= 1
        # numpy's floats see less where the spread is small beside the values
        if np.std(x) > 1e-3 * np.mean(x) and np.std(y) > 1e-3 * np.mean(y):
            assert got == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-6)
