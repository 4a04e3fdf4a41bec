"""What has no meaning is named, with what would be legal."""

from dataclasses import replace

import pytest

from sluice.subsets.application import Application, Call, Container, Host, PairRate, Root, Service
from sluice.subsets.legal import IllegalSubsetsError, check
from sluice.subsets.problem import problem
from sluice_kit.decide.applications import chain, hosts, service

GOOD = chain()


def tree(*names: str) -> Call:
    """A call tree in which each calls the next."""
    tree = Call(names[-1])
    for name in reversed(names[:-1]):
        tree = Call(name, ((tree,),))
    return tree


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (replace(GOOD, hosts=hosts(float("nan"), 0.1, 0.1, 0.1)), "hosts 'h0': cpu nan is not legal; legal: 0 to 1"),
        (
            replace(GOOD, hosts=(*hosts(0.1, 0.1, 0.1), Host("h3", network=-0.5))),
            "hosts 'h3': network -0.5 is not legal",
        ),
        (replace(GOOD, hosts=hosts(0.1)), "containers 'a-1': host 'h1' is not known; legal: a name in hosts"),
        (replace(GOOD, hosts=(*GOOD.hosts, Host("h0"))), "hosts: name 'h0' occurs twice"),
        (replace(GOOD, services=(service("a", 2), Service("b", ()))), "services 'b' has no containers"),
        (
            replace(GOOD, services=(service("a", 2), service("b", 2, drained=True))),
            "services 'b' has only drained containers, so a -> b cannot be connected",
        ),
        (replace(GOOD, services=(service("a", 2),)), "roots 'read': service 'b' is not known"),
        (
            replace(GOOD, services=(service("a", 2), service("b", 2, address="10.0.0.1:80"))),
            "containers 'b-1': address '10.0.0.1:80' belongs to b/b-0 too",
        ),
        (
            replace(GOOD, services=(service("a", 2), service("b", 2, capacity_per_s=0.0))),
            "capacity_per_s 0 is not legal",
        ),
        (replace(GOOD, roots=()), "roots: missing"),
        (replace(GOOD, roots=(Root("read", 1.0, Call("a")),)), "no service calls another"),
        (replace(GOOD, roots=(Root("read", -1.0, tree("a", "b")),)), "rate_per_s -1 is not legal; legal: above 0"),
        (
            replace(GOOD, roots=(Root("read", 1.0, Call("a", ((Call("b", calls=float("nan")),),))),)),
            "calls nan of 'b' is not legal",
        ),
        (replace(GOOD, roots=(Root("read", 1.0, tree("a", "a")),)), "no service calls another"),
        (replace(GOOD, pairs=(PairRate("a", "x", 1.0),)), "pairs a -> x: service 'x' is not known"),
        (replace(GOOD, quota=7), "quota 7 is not legal: min_subset 2 for each upstream container"),
        (replace(GOOD, quota=0), "quota 0 is not legal; legal: 1 or more"),
        (replace(GOOD, min_subset=0), "min_subset 0 is not legal"),
        (replace(GOOD, percentile=95.0), "percentile 95 is not legal; legal: between 0 and 1"),
    ],
)
def test_each_is_named(bad: Application, message: str) -> None:
    with pytest.raises(IllegalSubsetsError) as error:
        problem(bad)
    assert message in str(error.value)


def test_all_problems_are_named_at_once() -> None:
    bad = replace(GOOD, hosts=hosts(-1, 2, 0.5, 0.5), percentile=1.0)
    with pytest.raises(IllegalSubsetsError) as error:
        check(bad)
    assert len(error.value.problems) == 3


def test_a_tree_that_is_as_deep_as_a_loop_is_refused() -> None:
    names = [f"s{number}" for number in range(300)]
    deep = replace(
        GOOD,
        services=tuple(Service(name, (Container(f"{name}-0", "h0"),)) for name in names),
        roots=(Root("read", 1.0, tree(*names)),),
    )
    with pytest.raises(IllegalSubsetsError, match="deeper than 200 calls"):
        check(deep)


def test_a_diamond_is_no_circle() -> None:
    diamond = Call("a", ((tree("b", "d"), tree("c", "d")),))
    check(replace(GOOD, services=tuple(service(name, 2) for name in "abcd"), roots=(Root("read", 1.0, diamond),)))


def test_one_service_may_have_ten_thousand_containers() -> None:
    solvable = problem(replace(GOOD, services=(service("a", 2), service("b", 10_000))))
    assert solvable.quota == 10_000  # each is reached
