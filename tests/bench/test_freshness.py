"""The age of what a store shows, by hand."""

from bench.freshness import Look, ages_ms


def test_age_is_that_of_the_newest_call_where_a_window_has_them_evenly() -> None:
    # Half of the calls of the window that begins at 100: up to 105.
    looks = [Look(112.0, "a>b", 100, 25), Look(112.5, "a>b", 110, 1), Look(112.5, "b>c", 100, 30)]
    totals = {("a>b", 100): 50, ("a>b", 110): 10, ("b>c", 100): 30}
    assert ages_ms(looks, totals) == [7_000.0, 1_500.0, 2_500.0]


def test_windows_of_which_not_all_was_sent_are_left_out() -> None:
    assert ages_ms([Look(92.0, "a>b", 90, 5)], {("a>b", 100): 50}) == []
