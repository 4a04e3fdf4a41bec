"""The bench of connection subsets: every strategy can be judged."""

import pytest

from bench.subsets import cells, static
from bench.subsets.strategies import FULL, MICRONS, RIVALS, strategy
from sluice.subsets.document.application import read_application
from sluice.subsets.document.samples import read_samples
from sluice.subsets.document.solution import solution_object
from sluice.subsets.strategy_result import answer
from testbed.mesh.judged import judge
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import Deployment, deploy
from testbed.mesh.solution import Solution

SMALL = Deployment(32, 0.4)


@pytest.mark.parametrize("name", [*RIVALS, FULL, MICRONS])
def test_every_strategy_connects_an_application_that_can_be_judged(name):
    application = deploy(SHAPES["hotel"], SMALL)
    judged = judge(application, strategy(name)(application.public()), 1, 500)
    assert judged.failed == 0
    assert judged.requests > 300


def test_bars_are_read_from_cells():
    def made(below_p95, connections=100.0):
        return cells.Cell(1.0, below_p95 + 50.0, 1.0, 1.0, connections, below_p95)

    by_name = {name: made(p95) for name, p95 in zip(RIVALS, (100.0, 200.0, 300.0, 400.0, 500.0), strict=True)}
    results = {("hotel", "high", 0.8, "round_robin"): by_name | {FULL: made(150.0, 1001.0), MICRONS: made(110.0)}}
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in static.bars(results).splitlines()[2:]]
    where = "hotel, 0.8, round robin"
    assert rows == [
        ["high: beside the median of the rivals", "-60 %", "-63.3 %", "-63.3 %", where, "1 of 1"],
        ["high: of users, beside the median of the rivals", "-60 %", "-54.3 %", "-54.3 %", where, "0 of 1"],
        ["high: beside the best of the rivals", "below", "+10.0 %", "+10.0 %", where, "0 of 1"],
        ["high: beside fully connected", "-20 %", "-26.7 %", "-26.7 %", where, "1 of 1"],
        ["high: connections of fully connected's", "a tenth", "10.0%", "10.0%", where, "1 of 1"],
    ]


def test_rivals_have_at_least_as_many_connections_as_microns_chose():
    """Rounded up to whole connections for each upstream container."""
    application = deploy(SHAPES["hotel"], SMALL).public()
    learnt = cells.samples("hotel", 32, combinations=2)
    ours = strategy(MICRONS, learnt)(application).connections
    assert ours < strategy(MICRONS)(application).connections, "chosen, with samples"
    for name in RIVALS:
        assert strategy(name, learnt)(application).connections >= ours, name


def test_microns_here_is_what_the_command_answers():
    application = deploy(SHAPES["hotel"], SMALL).public()
    learnt = cells.samples("hotel", 32, combinations=2)
    document = read_application(application)
    shipped = answer(document.application, MICRONS, read_samples(learnt.splitlines(), "samples"), document.settings)
    ours = strategy(MICRONS, learnt)(application)
    assert ours == Solution.model_validate(solution_object(shipped))
