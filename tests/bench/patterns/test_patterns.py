"""Sluice on the testbed's patterns, beside the size that the operator had: the same requests, data 2 s old."""

from functools import cache

import numpy as np
import pytest

from bench.patterns.command import main, table
from bench.patterns.run import Way, held, sized
from testbed.patterns.registry import PATTERNS

SEED, SECONDS = 1, 240
LIGHT = ("light", "steady", "ahead")
USUAL = Way()
# No other test of `make test` runs these.
OTHERS, LONG = ("lightsurge", "mixed", "stream", "petclinic", "probes"), pytest.mark.long
DELAYS_S, CLOCKS_S = (0.0, 0.5, 1.0, 2.0, 5.0), (-1.0, 0.0, 1.0)


@cache
def ours(name, seconds=SECONDS, way=USUAL):
    return sized(name, SEED, seconds, way)


@cache
def theirs(name, seconds=SECONDS):
    return held(name, SEED, seconds)


def worst_minute(name, seconds=SECONDS, way=USUAL):
    """Good responses as a part of those at the operator's size, after the first minute; 1 where it has none."""
    rates = [item.per_minute(item.good)[1:].astype(float) for item in (ours(name, seconds, way), theirs(name, seconds))]
    return float(np.min(np.where(rates[1] > 0, rates[0] / np.maximum(rates[1], 1.0), 1.0)))


def in_the_end(name, way=USUAL):
    return float(np.median(ours(name, way=way).sizes[-60:]))


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG) if name in OTHERS else name for name in PATTERNS])
def test_no_minute_after_the_first_is_worse_than_at_the_operators_size(name):
    assert worst_minute(name) >= 0.95


@pytest.mark.parametrize("name", [name for name, kind in PATTERNS.items() if kind.right])
def test_a_size_that_is_right_is_not_left(name):
    least, most = PATTERNS[name].right
    sizes = ours(name).sizes
    assert (least, most) == (min(least, sizes.min()), max(most, sizes.max()))


def test_a_callees_quota_is_where_the_pool_ends():
    assert in_the_end("agg") == 12


def test_an_exhausted_pool_is_never_called_light():
    answers = ours("held").answers[60:]
    assert {"UNSATURATED"} & {item.state for item in answers} == set()
    assert {"NEVER_FULL"} & {code for item in answers for code in item.codes} == set()
    assert ours("held").sizes.min() >= 4


@pytest.mark.parametrize(("name", "control"), [("nested", "plain"), ("pgnode", "pgplain")])
def test_it_goes_where_its_control_goes(name, control):
    assert in_the_end(name) == pytest.approx(in_the_end(control), rel=0.2)
    assert in_the_end(name) < 0.5 * PATTERNS[name].size


@pytest.mark.parametrize("name", ["nested", "mixed", "pgnode"])
def test_where_every_span_counts_nothing_is_worse_either(name):
    assert worst_minute(name, way=Way(plainly=True)) >= 0.95


@pytest.mark.parametrize("name", ["maxsockets", "callee2"])
def test_a_wait_elsewhere_is_not_blamed_on_the_pool(name):
    codes = {code for item in ours(name).answers for code in item.codes}
    assert not codes & {"SCALE_OUT", "SCALE_IN", "THREADS_TAKEN"}


def test_a_size_that_was_hardly_seen_does_not_hide_the_errors_of_the_next():
    # Data 5 s old show a second of 13 when 14 follows. 14 was kept for good, at 0.92 of the operator's goodput.
    assert worst_minute("agg", way=Way(5.0, 1.0)) >= 0.95


@pytest.mark.parametrize("way", [Way(delay_s=0.0), Way(delay_s=5.0), Way(clock_s=1.0)])
def test_a_light_pool_completes_as_much_however_old_its_data_are(way):
    assert worst_minute("light", 120, way) >= 0.95


def test_the_control_is_the_same_requests():
    assert ours("light").good[:3].tolist() == theirs("light").good[:3].tolist()
    assert theirs("light").good.sum() > 30 * SECONDS


def test_a_row_a_minute(capsys):
    main(["light", "--minutes", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "## light, from 16, data 2 s old, clock +0 s"
    assert len([line for line in lines if line.startswith("| 1 |")]) == 1
    assert len(table(ours("light"), theirs("light")).splitlines()) == 2 + SECONDS // 60


def test_an_unknown_pattern_is_named(capsys):
    with pytest.raises(SystemExit):
        main(["heavy"])
    assert "unknown pattern 'heavy'; legal: plain, nested" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("name", PATTERNS)
def test_nor_in_twelve_minutes(name):
    assert worst_minute(name, 720) >= 0.95


@pytest.mark.long
@pytest.mark.parametrize("delay_s", DELAYS_S)
@pytest.mark.parametrize("clock_s", CLOCKS_S)
@pytest.mark.parametrize("name", ["steady", "lightsurge", "stream", "petclinic", "agg", "nested"])
def test_nor_on_data_of_another_age_and_clock(name, delay_s, clock_s):
    assert worst_minute(name, 240, Way(delay_s, clock_s)) >= 0.95


@pytest.mark.long
@pytest.mark.parametrize("way", [Way(delay, clock) for delay in DELAYS_S for clock in CLOCKS_S])
@pytest.mark.parametrize("name", LIGHT)
def test_a_light_pool_is_not_touched_on_data_of_another_age_and_clock(name, way):
    assert set(ours(name, way=way).sizes) == {16}
