"""Agents and gateways report what a kubelet, a node and the API server know: it becomes rows of resource_metrics."""

import pytest

from cluster.node.addresses import NAME
from cluster.queries import Queries
from sluice_kit.waiting import until


@pytest.mark.parametrize("role", ["host_cpu_idle", "host_cpu_used", "host_cpu_cores"])
def test_the_nodes_cpu_is_known(sluice: Queries, role: str) -> None:
    query = f"SELECT count() FROM resource_metrics WHERE role = '{role}' AND host = '{NAME}'"
    until(f"{role} has rows", lambda: sluice.value(query) > 0)


@pytest.mark.parametrize("role", ["container_cpu", "container_cpu_limit"])
def test_a_containers_cpu_and_limit_are_known(sluice: Queries, role: str) -> None:
    """The shop is the container with a limit."""
    query = f"SELECT count() FROM resource_metrics WHERE role = '{role}' AND instance LIKE '%shop%'"
    until(f"{role} has rows", lambda: sluice.value(query) > 0)
