"""Each law's documented values; ``test_fast_run`` has them in the engine."""

import pytest

from testbed.laws import Bimodal, Cliff, Convoy, Pauses


def test_the_documented_values():
    cliff, convoy, pauses = Cliff(20, 0.03), Convoy(8, 0.4e-3), Pauses(30, 40e-3)
    assert [cliff.share(n) for n in (1, 20, 30, 50, 100)] == pytest.approx([1, 1, 0.7, 0.1, 0.1])
    assert [convoy.seconds(n) for n in (0, 8, 18)] == pytest.approx([0.4e-3, 0.4e-3, 0.6e-3])
    assert [pauses.seconds(n) for n in (15, 90, 10_000)] == pytest.approx([0.020, 0.120, 0.9])
    bimodal = Bimodal(0.1, 10, 0.02)
    assert [bimodal.longer(n) for n in (0, 1, 26)] == pytest.approx([10, 10, 15])
    assert [bimodal.mean(n) for n in (1, 26)] == pytest.approx([1.9, 2.4])
