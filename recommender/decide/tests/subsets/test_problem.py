"""Pairs, rates, bounds and quotas of an application."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.subsets.application import Application, Call, Host, PairRate, Root
from sluice.subsets.calls import rates
from sluice.subsets.problem import problem
from sluice.subsets.quotas import bounded, first_quotas
from sluice_kit.decide.applications import chain, hosts, random_application, service


def test_rates_add_up_over_roots_and_places() -> None:
    read = Call("a", ((Call("b", ((Call("c", calls=2.0),),), calls=0.5), Call("c")),))
    write = Call("a", ((Call("b", ((Call("c"),),)),),))
    app = Application(
        hosts(0.1), tuple(service(name, 1, 1) for name in "abc"), (Root("read", 100, read), Root("write", 10, write))
    )
    # a -> c: 100 directly. b -> c: 100 x 0.5 x 2 + 10.
    assert rates(app) == {("a", "b"): 60.0, ("a", "c"): 100.0, ("b", "c"): 110.0}
    assert problem(app).rate_per_s.tolist() == [110.0, 60.0, 210.0]


def test_pairs_come_before_those_from_their_downstream_service() -> None:
    read = Call("z", ((Call("m", ((Call("a"),),)), Call("a")),))
    solvable = problem(Application(hosts(0.1), tuple(service(name, 2, 1) for name in "amz"), (Root("read", 1, read),)))
    names = [solvable.name(solvable.pairs[number]) for number in solvable.order]
    assert names.index("z -> m") < names.index("m -> a")


def test_the_usual_quota_is_four_for_each_upstream_container() -> None:
    assert problem(chain(4, 6)).quota == 16
    assert problem(chain(4, 3)).quota == 12, "there are no more"
    assert problem(chain(1, 9)).quota == 9, "each is reached"
    assert problem(chain(4, 6, quota=1000)).quota == 24


def test_drained_containers_take_no_part() -> None:
    app = chain(4, 6)
    drained = replace(app.services[1].containers[2], drained=True)
    below = replace(
        app.services[1], containers=(*app.services[1].containers[:2], drained, *app.services[1].containers[3:])
    )
    assert problem(replace(app, services=(app.services[0], below))).fleets[1].names == (
        "b-0",
        "b-1",
        "b-3",
        "b-4",
        "b-5",
    )


def test_pairs_without_trees() -> None:
    app = replace(chain(), roots=(), pairs=(PairRate("a", "b", 70.0),))
    solvable = problem(app)
    assert (solvable.trees.names, solvable.pairs[0].rate_per_s) == (("pairs",), 70.0)


def test_a_zone_keeps_to_itself_where_it_can() -> None:
    machines = tuple(Host(f"h{number}", zone=zone) for number, zone in enumerate(["x", "x", "y", "z"]))
    app = replace(chain(4, 3), hosts=machines, keep_in_zone=True)
    # a-0 and a-1 are in x with b-0 and b-1, a-2 in y with b-2, a-3 in z with nobody.
    pair = problem(app).pairs[0]
    assert pair.zone.tolist() == [0, 0, 1, -1]
    assert pair.most.tolist() == [2, 2, 1, 3]


@pytest.mark.parametrize(
    ("wanted", "least", "most", "total", "found"),
    [
        ([1, 1, 1], [0, 0, 0], [9, 9, 9], 10, [4, 3, 3]),
        ([3, 1], [1, 1], [5, 5], 10, [5, 5]),
        ([0, 0], [1, 1], [9, 9], 6, [3, 3]),
        ([100, 1], [2, 2], [50, 50], 12, [10, 2]),
        ([1, 1], [2, 2], [3, 3], 99, [3, 3]),
        ([1, 1], [2, 2], [3, 3], 0, [2, 2]),
    ],
)
def test_largest_remainder_within_bounds(
    wanted: list[int], least: list[int], most: list[int], total: int, found: list[int]
) -> None:
    assert bounded(np.array(wanted, float), np.array(least), np.array(most), total).tolist() == found


@given(st.data())
def test_whole_numbers_add_up_within_their_bounds(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    least = np.array(data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)))
    most = least + np.array(data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)))
    wanted = np.array(data.draw(st.lists(st.floats(0, 1e6), min_size=count, max_size=count)))
    total = data.draw(st.integers(int(least.sum()), int(most.sum())))
    quotas = bounded(wanted, least, most, total)
    assert quotas.sum() == total
    assert (quotas >= least).all()
    assert (quotas <= most).all()


@given(st.integers(0, 10_000))
def test_first_quotas_use_all_of_it(seed: int) -> None:
    solvable = problem(random_application(seed))
    quotas = first_quotas(solvable)
    assert quotas.sum() == solvable.quota
    for quota, pair in zip(quotas, solvable.pairs, strict=True):
        assert pair.fewest <= quota <= pair.all
