"""From what was seen to an application: who is there, who calls whom, and what is missing."""

from __future__ import annotations

from dataclasses import replace

from sluice.model.containers import NotifiedContainer, ReportedContainers
from sluice.subsets.application import Call, Host, PairRate
from sluice.subsets.assemble import Assembled, AssemblyRules, assemble
from sluice.subsets.cut import MOST_TREES, roots
from sluice.subsets.legal import check
from sluice.subsets.liveness import live_containers
from sluice.subsets.observed import ObservedApplication, ObservedContainer, ObservedHost, ObservedTree

NOW_S = 10_000
TREE = Call("front", ((Call("cart"), Call("mail")), (Call("stock"),)))


def seen_container(
    service: str, number: int, silent_s: int = 0, requests: int = 300, host: str = ""
) -> ObservedContainer:
    """Of the last 300 s, less what it has been silent for."""
    return ObservedContainer(
        service, f"{service}-{number}", host or f"h{number}", requests, NOW_S - 300, NOW_S - silent_s
    )


def seen(*trees: ObservedTree, **more: object) -> ObservedApplication:
    names = ("front", "cart", "mail", "stock")
    containers = tuple(seen_container(name, number) for name in names for number in range(2))
    given = {"hosts": {"h0": ObservedHost(0.2, 0.1, 0.1), "h1": ObservedHost(0.6, 0.3, 0.1)}, **more}
    return ObservedApplication(
        containers, trees or (ObservedTree("GET /", TREE, 600),), window_s=300.0, newest_s=NOW_S, **given
    )  # type: ignore[arg-type]


def rules(**more: object) -> AssemblyRules:
    given = {"wants": lambda up, down: True, "address": lambda service, instance, host: "", **more}
    return AssemblyRules(**given)  # type: ignore[arg-type]


def made(of: ObservedApplication, told: dict[str, ReportedContainers] | None = None, **more: object) -> Assembled:
    return assemble(of, told or {}, rules(**more))


def test_trees_become_roots_with_their_rates_and_hosts_with_what_they_are_busy_with() -> None:
    app = made(seen()).application
    check(app)
    (root,) = app.roots
    assert (root.rate_per_s, root.tree) == (2.0, TREE)
    assert app.hosts == (Host("h0", 0.2, 0.1, 0.1), Host("h1", 0.6, 0.3, 0.1))
    assert [service.name for service in app.services] == ["cart", "front", "mail", "stock"]


def test_what_shows_no_containers_and_calls_to_itself_are_left_out() -> None:
    tree = Call("front", ((Call("cart", ((Call("cart-db"),),)), Call("front")),))
    assembled = made(seen(ObservedTree("GET /", tree, 300)))
    check(assembled.application)
    assert assembled.application.roots[0].tree == Call("front", ((Call("cart"),),))
    assert "no containers of cart-db in any spans: the solver leaves these services out" in assembled.missing


def test_below_a_caller_without_containers_trees_begin_with_those_that_it_calls() -> None:
    users = Call("users", ((TREE,),))
    app = made(seen(ObservedTree("visit", users, 600))).application
    check(app)
    assert [root.tree for root in app.roots] == [TREE]


def test_only_pairs_that_are_asked_for_are_solved_and_what_is_below_is_called_from_outside() -> None:
    deep = Call("front", ((Call("cart", ((Call("stock"),),)),),))
    app = made(
        seen(ObservedTree("GET /", deep, 600)), wants=lambda up, down: (up, down) == ("cart", "stock")
    ).application
    check(app)
    assert [root.tree for root in app.roots] == [Call("cart", ((Call("stock"),),))]
    assert [service.name for service in app.services] == ["cart", "stock"]


def test_many_trees_of_a_root_count_as_the_most_frequent_and_rare_calls_as_pairs() -> None:
    trees = [
        ObservedTree("GET /", Call("front", tuple((Call("cart"),) for _ in range(number))), 100 - number)
        for number in range(1, MOST_TREES + 1)
    ]
    rare = ObservedTree("GET /", Call("front", ((Call("mail"),),)), 30)
    measured_roots, pairs = roots([*trees, rare], lambda up, down: True, 10.0)
    assert len(measured_roots) == MOST_TREES
    total = sum(tree.traces for tree in (*trees, rare)) / 10
    assert abs(sum(root.rate_per_s for root in measured_roots) - total) < 1e-9
    assert pairs == [PairRate("front", "mail", 3.0)]


def test_what_is_not_known_of_a_host_is_the_mean_of_the_others_and_is_named() -> None:
    hosts = {"h0": ObservedHost(0.2, None, 0.1)}
    assembled = made(seen(hosts=hosts))
    assert assembled.application.hosts == (Host("h0", 0.2, 0.0, 0.1), Host("h1", 0.2, 0.0, 0.1))
    assert "no cpu utilization of h1: the mean of the other hosts replaces it" in assembled.missing
    assert "no memory_bandwidth utilization of any host: the solver ignores it" in assembled.missing


def test_containers_whose_host_nothing_names_are_named() -> None:
    sightings = seen()
    nowhere = tuple(
        replace(container, host="") if container.service == "cart" else container for container in sightings.containers
    )
    assembled = made(replace(sightings, containers=nowhere))
    assert "cart: no host of cart-0, cart-1: each counts as alone on a host of mean utilization" in assembled.missing
    check(assembled.application)


def test_addresses_are_told_or_made_by_the_file() -> None:
    reported = {
        "cart": ReportedContainers(NOW_S, (NotifiedContainer("cart-0", "10.0.0.1:80"), NotifiedContainer("cart-1")))
    }
    app = made(seen(), reported, address=lambda service, instance, host: f"{instance}.{service}:90").application
    cart = next(service for service in app.services if service.name == "cart")
    assert [container.address for container in cart.containers] == ["10.0.0.1:80", "cart-1.cart:90"]
    assert [container.host for container in cart.containers] == ["h0", "h1"], "as their spans say"


def names(found: list[tuple[NotifiedContainer, bool]]) -> list[str]:
    return [each.instance for each, _ in found]


def test_a_container_is_gone_when_it_misses_requests_that_it_would_have_had() -> None:
    """1 request a second: after 20 s 20 are missing, after 40 s 40."""
    quick, slow = seen_container("cart", 0), seen_container("cart", 1, silent_s=20)
    assert names(live_containers([quick, slow], None, NOW_S, 20.0)) == ["cart-0", "cart-1"]
    away = seen_container("cart", 1, silent_s=40)
    assert names(live_containers([quick, away], None, NOW_S, 20.0)) == ["cart-0"]
    rare = seen_container("cart", 1, silent_s=100, requests=5)
    assert names(live_containers([quick, rare], None, NOW_S, 20.0)) == ["cart-0", "cart-1"]


def test_where_all_are_silent_nobody_is_gone() -> None:
    all_of = [seen_container("cart", number, silent_s=200) for number in range(3)]
    assert names(live_containers(all_of, None, NOW_S, 20.0)) == ["cart-0", "cart-1", "cart-2"]


def test_whoever_knows_the_containers_says_who_is_there() -> None:
    """Of others only those that were first seen since: here nobody, and cart-9, which came later."""
    before = [seen_container("cart", number) for number in range(3)]
    later = ObservedContainer("cart", "cart-9", "h1", 10, NOW_S - 20, NOW_S)
    reported = ReportedContainers(
        NOW_S - 50, (NotifiedContainer("cart-1", drained=True), NotifiedContainer("cart-7", host="h3"))
    )
    live = live_containers([*before, later], reported, NOW_S, 20.0)
    assert [(each.instance, each.host, each.drained, was_seen) for each, was_seen in live] == [
        ("cart-1", "h1", True, True),
        ("cart-7", "h3", False, False),
        ("cart-9", "h1", False, True),
    ]
