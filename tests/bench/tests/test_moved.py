"""What `subsets-churn` counts."""

from bench.subsets.moved import added, busier, drained, moved, removed
from sluice.subsets.application import Application, Call, Container, Host, Root, Service
from sluice.subsets.churn import NamedConnections


def app() -> Application:
    services = tuple(
        Service(name, tuple(Container(f"{name}-{at}", f"h{at}") for at in range(3))) for name in ("a", "b")
    )
    roots = tuple(Root(name, rate, Call("a", ((Call("b"),),))) for name, rate in (("read", 100.0), ("write", 10.0)))
    return Application(tuple(Host(f"h{at}") for at in range(3)), services, roots)


def names(of: Application, number: int) -> list[tuple[str, bool]]:
    return [(each.name, each.drained) for each in of.services[number].containers]


def test_each_change_is_of_one_container_or_one_root() -> None:
    there = [("b-0", False), ("b-1", False), ("b-2", False)]
    assert names(added(app(), 1), 1) == [*there, ("b-new", False)]
    assert names(removed(app(), 1), 1) == [there[0], there[2]]
    assert names(drained(app(), 1), 1) == [there[0], ("b-1", True), there[2]]
    assert names(removed(app(), 1), 0) == names(app(), 0)
    assert [root.rate_per_s for root in busier(app(), 1).roots] == [100.0, 10.5]


def test_what_moved_is_a_part_of_all_connections_and_told_apart_by_service() -> None:
    before: NamedConnections = {
        ("a", "b"): {("a-0", "b-0"): 1.0, ("a-0", "b-1"): 1.0},
        ("b", "c"): {("b-0", "c-0"): 1.0},
    }
    after: NamedConnections = {
        ("a", "b"): {("a-0", "b-0"): 2.0, ("a-0", "b-2"): 1.0},
        ("b", "c"): {("b-0", "c-1"): 1.0},
    }
    assert moved(before, after, "a") == (2 / 3, 1 / 3), "weights do not count; the second is in a pair without a"
    assert moved(before, after, "b") == (2 / 3, 0.0)
