"""Containers of a real API server up to the subsets of callers, and who follows them. No span shows a pod that a
rollout brings."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import requests

from sluice_kit.applications.container_shop import Shop, container_shop, way
from sluice_kit.applications.kube_service import PORT, PodLog, pod_log, service
from sluice_kit.machine.ports import free_ports
from sluice_kit.programs.subset_caller import CallLog, call_log
from sluice_kit.waiting import until

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with container_shop(tmp_path_factory.mktemp("containers")) as shop:
        yield shop


def settled(pods: PodLog, calls: CallLog, replicas: int) -> bool:
    return len(pods.alive()) == replicas and calls.called() == pods.alive()


def test_an_outage_takes_no_container_away(shop: Shop) -> None:
    """Of the API server, of the recommender, and of the Service itself; what changed meanwhile follows at once."""
    (at,) = free_ports(1)
    with (
        pod_log(shop.cluster, "shop") as pods,
        call_log(shop.address, "cart") as calls,
        ExitStack() as up,
        shop.actuator(f"https://127.0.0.1:{at}") as pages,
    ):

        def status() -> dict[str, Any]:
            (one,) = requests.get(f"{pages}/status", timeout=10).json()["containers"]
            return dict(one)

        shop.scale(12)
        time.sleep(2)
        assert status()["taken"] == 0, "the actuator never reached the API server"
        assert not calls.called()
        up.enter_context(way(shop.cluster.url, at, shop.folder))
        until("12 pods are called", lambda: settled(pods, calls, 12))

        up.close()
        until("the actuator knows", lambda: "refused" in status().get("error", ""))
        before = status()["taken"]
        shop.scale(20)
        until("20 pods are ready", lambda: len(pods.alive()) == 20)
        time.sleep(2)
        assert len(calls.called()) == 12
        assert status()["taken"] == before
        began = time.monotonic()
        up.enter_context(way(shop.cluster.url, at, shop.folder))
        until("20 pods are called", lambda: settled(pods, calls, 20))
        print(f"20 pods called {time.monotonic() - began:.1f} s after the API server's return", flush=True)

        shop.server.close()
        shop.scale(15)
        until("the list waits", lambda: status()["failed"] > 0)
        assert len(calls.called()) == 20
        shop.serve()
        began = time.monotonic()
        until("15 pods are called", lambda: settled(pods, calls, 15))
        print(f"15 pods called {time.monotonic() - began:.1f} s after the server's return", flush=True)

        shop.cluster.kubectl("delete", "-n", "shop", "service/cart")
        until("it is said", lambda: "no container that is ready" in status().get("error", ""))
        time.sleep(2)
        assert len(calls.called()) == 15
        shop.cluster.apply(service("shop", "cart", 15)[0])
        until("the list is known again", lambda: not status().get("error"))
        assert settled(pods, calls, 15)
        assert calls.emptied == 0


@pytest.mark.parametrize("replicas", [40, 1000])
def test_a_rolling_restart_is_followed(shop: Shop, replicas: int) -> None:
    """The first pods are in spans, and the new ones never were. New ones get calls, and those that end are left before
    they are gone. Prints how soon."""
    with pod_log(shop.cluster, "shop") as pods, shop.actuator() as pages, call_log(shop.address, "cart") as calls:
        shop.scale(replicas)
        until(f"{replicas} pods are called", lambda: settled(pods, calls, replicas))
        (end, *_) = next(iter(calls.ends.values()))
        assert end.address.startswith("10.128.")
        assert end.address.endswith(f":{PORT}")
        assert {end.zone for ends in calls.ends.values() for end in ends} == {f"zone-{n}" for n in range(6)}
        first = pods.alive()
        shop.rows({"cart": sorted(first)})
        time.sleep(30)  # until latencies are learnt

        began = time.monotonic()
        shop.restart()
        until("all are replaced", lambda: not pods.alive() & first and settled(pods, calls, replicas))
        took = time.monotonic() - began
        until("the old ones ended", lambda: all(pods.lives[name].ended for name in first))
        status = requests.get(f"{pages}/status", timeout=10).json()["containers"]
        new = pods.alive()
        report(pods, calls, first, new, f"{replicas} pods replaced in {took:.1f} s, {status[0]['taken']} lists")

        assert status[0]["live"] == replicas
        assert status[0]["rejected"] == status[0]["failed"] == 0
        assert calls.emptied == 0
        called_dead = [name for name in first if calls.left[name] > (pods.lives[name].ended or 0)]
        assert not called_dead, f"{len(called_dead)} of {len(first)}, as {called_dead[:3]}"
        assert min(end.weight for ends in calls.ends.values() for end in ends) >= 1


def report(pods: PodLog, calls: CallLog, old: set[str], new: set[str], what: str) -> None:
    lives = [(pods.lives[name], calls.entered[name]) for name in new]
    times = {
        "ready -> in a slice": [(life.listed or 0) - (life.ready or 0) for life, _ in lives],
        "in a slice -> in a subset": [entered - (life.listed or 0) for life, entered in lives],
        "ready -> in a subset": [entered - (life.ready or 0) for life, entered in lives],
        "told to end -> in no subset": [calls.left[name] - (pods.lives[name].ending or 0) for name in old],
    }
    print(f"{what}, {calls.updates} updates of subsets", flush=True)
    for name, unordered in times.items():
        each = sorted(unordered)
        middle, p95 = each[len(each) // 2], each[len(each) * 95 // 100]
        print(f"{name}: {each[0]:.2f} to {each[-1]:.2f} s, median {middle:.2f}, p95 {p95:.2f}", flush=True)
