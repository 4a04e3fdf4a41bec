"""Small applications and solutions for the tests of the mesh."""

from testbed.mesh.application import Application
from testbed.mesh.graph import flatten
from testbed.mesh.solution import Solution


def made(services, roots, natures=None, hosts=None):
    """``services``: by name the number of containers; ``roots``: by name (rate, tree); ``hosts``: utilization of each.

    Container i of a service stands on host i, around and around.
    """
    hosts = hosts or [0.0]
    return Application.model_validate(
        {
            "hosts": [
                {"name": f"h{i}", "cpu": used, "memory_bandwidth": used, "network": used}
                for i, used in enumerate(hosts)
            ],
            "services": [
                {
                    "name": name,
                    "containers": [{"name": f"{name}-{i}", "host": f"h{i % len(hosts)}"} for i in range(count)],
                }
                for name, count in services.items()
            ],
            "roots": [{"name": name, "rate_per_s": rate, "tree": tree} for name, (rate, tree) in roots.items()],
            "testbed": {"services": natures or {}},
        }
    )


def all_to_all(application, weight=lambda container, other: 1.0):
    """``weight(i, j)`` of the connection from container i to container j of a pair."""
    services = application.services
    pairs = []
    for up, down in flatten(application).pairs:
        connections = [
            {"from": container.name, "to": other.name, "weight": weight(i, j)}
            for i, container in enumerate(services[up].containers)
            for j, other in enumerate(services[down].containers)
        ]
        pairs.append({"upstream": services[up].name, "downstream": services[down].name, "connections": connections})
    return Solution.model_validate({"strategy": "all", "pairs": pairs})
