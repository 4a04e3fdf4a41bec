"""The applications have the sizes that the paper says, and hosts as uneven as they are asked to be."""

import numpy as np
import pytest

from testbed.mesh import calibration
from testbed.mesh.fleet import Fleet
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import HIGH, JITTER, TARGET, Deployment, deploy
from testbed.mesh.published import fully_connected, rocksteady
from testbed.mesh.run import MeshRun


@pytest.mark.parametrize(("name", "services"), [("social-network", 36), ("media", 38), ("hotel", 15)])
def test_services_as_in_section_7_1_all_of_them_used(name, services):
    demand = SHAPES[name].demand()
    assert len(demand) == services
    assert min(demand.values()) > 0
    assert sum(share for share, _ in SHAPES[name].operations.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("containers", [64, 128, 512])
@pytest.mark.parametrize("difference", [0.0, HIGH])
def test_as_many_containers_as_asked_sized_where_they_stand(name, containers, difference):
    """No service uses more than TARGET of its limits at a workload of 1; the hosts are as far apart as asked."""
    how = Deployment(containers, difference, workload=1.0)
    application = deploy(SHAPES[name], how)
    assert sum(len(service.containers) for service in application.services) == containers
    assert deploy(SHAPES[name], how) == application
    cpu = [host.cpu for host in application.hosts]
    assert max(cpu) - min(cpu) == pytest.approx(difference, abs=2 * JITTER)
    fleet = Fleet(application)
    speeds = fleet.speeds(fleet.others, np.zeros(len(fleet)))
    rate = sum(root.rate_per_s for root in application.roots)
    for i, (service, seconds) in enumerate(SHAPES[name].demand().items()):
        live = fleet.members[i]
        assert rate * seconds / len(live) * np.mean(1.0 / speeds[live]) <= TARGET * (1 + 1e-9), service
    workload = sum(root.rate_per_s for root in deploy(SHAPES[name], Deployment(containers, difference)).roots)
    assert workload == pytest.approx(calibration.NOMINAL * rate)


def test_too_few_containers_are_refused():
    with pytest.raises(ValueError, match="35 containers for 36 services; legal: at least one each"):
        deploy(SHAPES["social-network"], Deployment(35))


def test_a_run_repeats_and_another_seed_does_not():
    application = deploy(SHAPES["media"], Deployment(64))
    rows = []
    for seed in (1, 1, 2):
        run = MeshRun(application, rocksteady(application), seed)
        run.until(10.0)
        rows.append(run.engine.rows())
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])


def test_connections_of_the_published_strategies():
    application = deploy(SHAPES["hotel"], Deployment(128))
    counts = {service.name: len(service.containers) for service in application.services}
    for pair in fully_connected(application).pairs:
        assert len(pair.connections) == counts[pair.upstream] * counts[pair.downstream]
    for pair in rocksteady(application).pairs:
        assert len(pair.connections) == counts[pair.upstream] * min(4, counts[pair.downstream])
