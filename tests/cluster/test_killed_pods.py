"""Each pod is deleted without grace under load; its successor goes on, and every span has its window."""

from collections.abc import Callable

import pytest

from cluster.counted import completions, counted
from cluster.queries import Queries
from sluice_kit.waiting import eventually, until

COMPONENTS = ("collector", "taskmanager", "jobmanager", "decider", "server", "records", "clickhouse", "kafka", "neo4j")


@pytest.mark.parametrize("component", COMPONENTS)
def test_nothing_is_lost(sluice: Queries, component: str) -> None:
    service = f"counted-{component}"
    with counted(service, f"http://{sluice.address('collector')}:4318") as sender:
        until("spans have windows", lambda: sluice.value(completions(service)) > 0)
        before = _pods(sluice, component)
        cluster, place = sluice.release.cluster, ("-n", sluice.release.namespace)
        cluster.kubectl("delete", "pod", sorted(before)[0], *place, "--grace-period=0", "--force")
        until("another pod is there", _replaced(sluice, component, before))
        sluice.release.wait_ready()
        sent = sender.sent
        until("spans of after have windows", lambda: sluice.value(completions(service)) > sent)
    assert eventually(lambda: sluice.value(completions(service)), sender.sent) == sender.sent
    until("there is a decision", lambda: sluice.target("cart") > 0)


def _pods(sluice: Queries, component: str) -> dict[str, str]:
    """Uid by name."""
    label = "app.kubernetes.io/component"
    pods = [pod["metadata"] for pod in sluice.release.pods() if pod["metadata"]["labels"][label] == component]
    return {pod["name"]: pod["uid"] for pod in pods}


def _replaced(sluice: Queries, component: str, before: dict[str, str]) -> Callable[[], bool]:
    gone = before[sorted(before)[0]]

    def replaced() -> bool:
        now = _pods(sluice, component)
        return gone not in now.values() and len(now) == len(before)

    return replaced
