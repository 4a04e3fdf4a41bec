"""What the ablations change of an application, and how their tables count: by hand."""

import numpy as np
import pytest

from bench.subsets import ablations, parameters
from bench.subsets.cells import samples
from bench.subsets.strategies import MICRONS, strategy
from sluice.subsets.latency.curves import Curves
from testbed.mesh.meshes import made
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import Deployment, deploy

TREE = {"service": "a", "stages": [[{"service": "b"}, {"service": "c"}], [{"service": "b"}]]}


def rows(text):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line][2:]


def test_without_the_call_graph_each_call_is_a_stage():
    application = made({"a": 1, "b": 1, "c": 1}, {"read": (1.0, TREE)}).public()
    tree = ablations.serial(application)["roots"][0]["tree"]
    assert [[call["service"] for call in stage] for stage in tree["stages"]] == [["b"], ["c"], ["b"]]


def test_without_the_connection_manager_hosts_are_alike():
    """The mean of 0, 0.2 and 0.7 is 0.3."""
    application = made({"a": 1}, {"read": (1.0, {"service": "a"})}, hosts=[0.0, 0.2, 0.7]).public()
    assert [host["cpu"] for host in ablations.alike(application)["hosts"]] == pytest.approx([0.3] * 3)


def test_without_weights_all_are_equal_and_with_them_not():
    application = deploy(SHAPES["hotel"], Deployment(32, 0.4)).public()
    weights = {}
    for on in (False, True):
        solution = ablations.without("", ablations.weighted(on, strategy(MICRONS)))(application)
        weights[on] = {connection.weight for pair in solution.pairs for connection in pair.connections}
    assert weights[False] == {1.0}
    assert len(weights[True]) > 10


def test_without_the_quota_adjuster_quotas_are_in_proportion_to_upstream_containers():
    application = deploy(SHAPES["hotel"], Deployment(96, 0.6)).public()
    whole = ablations.weighted(False, strategy(MICRONS, samples("hotel", 96, combinations=4)))

    def quotas(module):
        return [len(pair.connections) for pair in ablations.without(module, whole)(application).pairs]

    by_name = {service["name"]: len(service["containers"]) for service in application["services"]}
    solution = ablations.without("connect", whole)(application)
    counts = [(by_name[pair.upstream], by_name[pair.downstream]) for pair in solution.pairs]
    free = [
        len(pair.connections) / up
        for pair, (up, down) in zip(solution.pairs, counts, strict=True)
        if max(2 * up, down) < len(pair.connections) < up * down
    ]
    assert max(free) - min(free) < 1
    assert quotas("") != quotas("connect")


def test_quotas_are_so_many_an_upstream_container_or_the_fewest_that_are_legal():
    """3 a call 10 b: 4 each are 12; 2 each would be 6, which leaves 4 of b without a caller."""
    application = made({"a": 3, "b": 10}, {"read": (1.0, {"service": "a", "stages": [[{"service": "b"}]]})})
    assert parameters.quota_of(application, 4) == 12
    assert parameters.quota_of(application, 2) == 10


def test_latencies_are_predicted_too_high_or_too_low_by_the_part():
    curves = Curves(np.array([1.0, 2.0]), np.zeros((50, 2)), np.ones((50, 2)))
    factor = np.exp(parameters.mistaken(0.2, 1)(curves).mu)
    assert {round(value, 9) for value in factor.ravel().tolist()} == {0.8, 1.2}
    assert (factor[:, 0] == factor[:, 1]).all()


def test_tables_of_modules_and_parameters():
    """150 beside 400 is 62.5 % less; seeds 100 beside 400 and 200 beside 400: 75 and 50 % less."""
    by_module = {"": [100.0, 200.0], "quota": [400.0, 400.0], "connect": [150.0, 150.0], "graph": [100.0, 200.0]}
    row, paper = rows(ablations.report({("hotel", "high", False): by_module}))
    assert row == [
        *("without", "hotel", "high", "150", "400 (-62.5 %; -75.0 to -50.0)"),
        *("150 (+0.0 %; -33.3 to +33.3)", "150 (+0.0 %; +0.0 to +0.0)"),
    ]
    assert paper[4:] == list(ablations.PAPER.values())
    table = rows(parameters.report(200.0, {"quota": {2: 250.0, 8: 150.0}}))
    assert [row[1:4] for row in table] == [["2", "250", "+25.0 %"], ["4", "200", "+0.0 %"], ["8", "150", "-25.0 %"]]
