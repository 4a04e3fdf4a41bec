"""Names of pools and instances that spans do not show: the reasons, judged by hand."""

import pytest

from sluice.model.keys import PoolKey, Side
from sluice.pools.nearest.instances import instances_differ
from sluice.pools.nearest.query import PoolInSpans
from sluice.pools.nearest.reasons import Nearest


def candidate(service: str, side: Side, requests: int, peer: str = "") -> PoolInSpans:
    return PoolInSpans(PoolKey(service, side, peer), requests, ("i",))


SHOWN = [
    candidate("petclinic", "server", 1_500),
    candidate("petclinic", "client", 1_204, "127.0.0.1/petclinic"),
    candidate("visits", "server", 900),
    candidate("petclinic", "client", 3, "mail"),
]


def text(key: PoolKey, shown: list[PoolInSpans] = SHOWN) -> str:
    reason = Nearest(shown).reason(key)
    assert reason is not None
    assert reason.code == "NOT_IN_SPANS"
    return reason.text


def test_a_guessed_peer_gets_the_services_own_peers_first() -> None:
    assert text(PoolKey("petclinic", "client", "postgres")) == (
        "spans of 10 min show no petclinic/client/postgres; the nearest pools in them: "
        "petclinic/client/127.0.0.1/petclinic (1,204 requests), petclinic/client/mail (3 requests), "
        "petclinic/server (1,500 requests)"
    )


@pytest.mark.parametrize("service", ["pet-clinic", "PetClinic", "clinic", "petclinic-service"])
def test_a_similar_service_is_named_where_there_is_none_of_that_name(service: str) -> None:
    assert text(PoolKey(service, "server", "")) == (
        f"spans of 10 min show no service {service}; the nearest pools in them: petclinic/server (1,500 requests), "
        "petclinic/client/127.0.0.1/petclinic (1,204 requests), petclinic/client/mail (3 requests)"
    )


def test_without_a_similar_name_the_busiest_pools_are_named() -> None:
    assert text(PoolKey("checkout", "server", "")).startswith(
        "spans of 10 min show no service checkout; the busiest pools in them: petclinic/server (1,500 requests), "
    )
    assert text(PoolKey("checkout", "server", ""), []) == (
        "no spans of any service arrived in 10 min; see ./sluice doctor"
    )


def test_a_pool_in_spans_has_no_reason() -> None:
    assert Nearest(SHOWN).reason(SHOWN[1].key) is None


def test_instances_named_differently_are_both_listed() -> None:
    reason = instances_differ(("pod-1", "pod-2"), ["duo-b", "duo-a"])
    assert reason is not None
    assert reason.text == (
        "spans have the instances pod-1, pod-2; sizes are reported of duo-a, duo-b: set `instance` of each target to "
        "the service.instance.id of its spans"
    )
    many = instances_differ(tuple(f"pod-{nth}" for nth in range(6)), ["", "b"])
    assert many is not None
    assert "pod-0, pod-1, pod-2, pod-3 and 2 more; sizes are reported of (no name), b:" in many.text


@pytest.mark.parametrize(
    ("of_spans", "of_targets"),
    [
        (("pod-1",), ["duo-a"]),  # a single target is the single instance
        (("pod-1", "pod-2"), ["pod-2", "new"]),  # as during a rollout
        ((), ["duo-a", "duo-b"]),  # no spans
    ],
)
def test_no_reason_where_names_may_fit(of_spans: tuple[str, ...], of_targets: list[str]) -> None:
    assert instances_differ(of_spans, of_targets) is None
