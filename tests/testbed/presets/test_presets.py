"""The presets of the papers: each has a best size inside, and a run of it with a controller is the same twice."""

from hashlib import sha256

import pytest

from testbed.bursty import STEEP_TRI_PHASE
from testbed.controller import ControlAgent
from testbed.fine import FineWindows
from testbed.presets.registry import PRESETS
from testbed.presets.social_network import CONNECTIONS, HEAVY, POST_STORAGE
from testbed.presets.sock_shop import CART, CART_THREADS
from testbed.shapes import Repeating
from testbed.simulation import Simulation
from testbed.sweep import main, measure


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_the_pools_that_it_names_and_takes_sizes_and_shapes(name):
    preset = PRESETS[name]
    for pool in preset.threshold_ms:
        scenario = preset.build(7, {pool: 9}, STEEP_TRI_PHASE)
        simulation = Simulation(scenario, 1, lambda span: None)
        assert simulation.pools[pool].size == 9
        assert (scenario.users, scenario.shape) == (7, STEEP_TRI_PHASE)


BURST = Repeating(50.0, ((0, 0.4), (15, 0.4), (20, 0.95), (32, 0.95), (37, 0.4), (50, 0.4)))


@pytest.mark.parametrize(
    ("name", "small", "best", "large"),
    [
        ("cart", 6, 12, 40),
        pytest.param("cart-4-cores", 10, 22, 50, marks=pytest.mark.long),
        pytest.param("catalogue", 8, 15, 40, marks=pytest.mark.long),
        ("post-storage", 6, 12, 40),
        pytest.param("post-storage-heavy", 15, 30, 70, marks=pytest.mark.long),
    ],
)
@pytest.mark.timeout(300)
def test_the_best_size_lies_inside(name, small, best, large):
    preset = PRESETS[name]
    pool = next(iter(preset.threshold_ms))
    user_goodput = {
        size: measure(pool, size, seconds=40, preset=preset, shape=BURST).user_goodput for size in (small, best, large)
    }
    assert user_goodput[best] > 1.15 * user_goodput[small]
    assert user_goodput[best] > 1.15 * user_goodput[large]


class Growing:
    """One more slot a period, from what the windows say is the size."""

    def decide(self, now_s, windows):
        return {name: window.size + (window.own.completions.sum() > 0) for name, window in windows.items()}


def controlled(seed):
    """A digest of all spans of 70 s with a controller, and the sizes that it set."""
    digest, fine = sha256(), FineWindows()

    def on_span(span):
        digest.update(repr((span.span_id, span.instance, span.start_ns, span.end_ns)).encode())
        fine.add(span)

    simulation = Simulation(POST_STORAGE.build(2500, {}, lambda second: 1.0), seed, on_span)
    fine.watch(simulation.pools.values())
    control = ControlAgent(simulation, fine, Growing(), lambda now: {CONNECTIONS: 245.0})
    simulation.run_until(70.0)
    return digest.hexdigest(), control.applied


@pytest.mark.timeout(300)
def test_the_same_seed_gives_the_same_run_with_a_controller_at_work():
    first = controlled(1)
    assert first == controlled(1)
    assert first[0] != controlled(2)[0]
    assert first[1] == [
        (15.0, CONNECTIONS, 11),
        (30.0, CONNECTIONS, 12),
        (45.0, CONNECTIONS, 13),
        (60.0, CONNECTIONS, 14),
    ]


def test_heavy_requests_wait_for_the_database():
    def mean_ms(scenario):
        spans = []
        Simulation(scenario, 1, spans.append).run_until(30.0)
        own = [s.end_ns - s.start_ns for s in spans if (s.site.service, s.site.side) == ("post-storage", "server")]
        return sum(own) / len(own) / 1e6

    # 3 + 8 ms and 4.7 + 56 ms, and 0.4 ms of network; hardly anyone is there.
    assert mean_ms(POST_STORAGE.build(60, {}, lambda second: 1.0)) == pytest.approx(11.4, rel=0.05)
    heavy = PRESETS["post-storage-heavy"].build(60, {}, lambda second: 1.0)
    assert list(heavy.mix) == [HEAVY]
    assert mean_ms(heavy) == pytest.approx(61.1, rel=0.05)


def test_a_sweep_prints_a_row_a_size(capsys):
    assert main(["--preset", "cart", "--sizes", "5,12", "--minutes", "0.1", "--users", "50"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["5", "1"], ["12", "1"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "x"], "invalid choice: 'x'"),
        (["--preset", "cart", "--pool", "x"], "preset cart has the pools cart.threads, got 'x'"),
        (["--fix", "x=3"], "preset shop has the pools cart.threads, catalogue.connections, got 'x'"),
        (["--fix", "x"], "must be POOL=SIZE, got 'x'"),
        (["--sizes", "0"], "must be an integer from 1, got '0'"),
        (["--shape", "x"], "must be one of large_variation, quickly_varying"),
    ],
)
def test_bad_arguments_of_a_sweep_are_named(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


def test_3500_users_of_sock_shop_are_all_served_with_four_cores():
    # 3,500 / (7 s + 0.03 s) = 498/s at the peak: far below what 4 cores with 20 threads do.
    outcome = measure(CART_THREADS, 20, seconds=20, preset=PRESETS["cart-4-cores"], users=3500, shape=lambda at: 1.0)
    assert outcome.user_rate == pytest.approx(498, rel=0.04)
    assert outcome.user_goodput > 0.99 * outcome.user_rate
    assert CART.users == 3000
