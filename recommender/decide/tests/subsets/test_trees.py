"""Latency of roots from that of pairs, with numbers worked out by hand."""

import numpy as np
import pytest

from sluice.subsets.application import Application, Call, Root
from sluice.subsets.problem import Problem, problem
from sluice.subsets.trees import end_to_end, end_to_end_latency, parts
from sluice_kit.decide.applications import hosts, service


def asked(*roots: Root) -> Problem:
    return problem(Application(hosts(0.1), tuple(service(str(name), 1, 1) for name in range(6)), roots))


#: Figure 7 of Microns: 0 calls 1, which calls {2, 3} and {4, 5} in parallel.
FIGURE_7 = Call("0", ((Call("1", ((Call("2", ((Call("3"),),)), Call("4", ((Call("5"),),))),)),),))
#: 0 -> 1, 1 -> 2, 1 -> 4, 2 -> 3, 4 -> 5.
LATENCY = np.array([5.0, 10.0, 4.0, 20.0, 2.0])


def test_serial_pairs_add_up_and_of_parallel_ones_the_longest_counts() -> None:
    arrays = asked(Root("read", 1, FIGURE_7))
    assert end_to_end(arrays.trees, LATENCY).tolist() == [5 + max(10 + 20, 4 + 2)]


def test_gradients_of_shorter_parallel_subgraphs_count_less() -> None:
    arrays = asked(Root("read", 1, FIGURE_7))
    assert parts(arrays.trees, LATENCY) == pytest.approx([1, 1, 6 / 30, 1, 6 / 30])


def test_roots_count_by_their_workload() -> None:
    arrays = asked(Root("read", 3, FIGURE_7), Root("write", 1, Call("0", ((Call("1"),),))))
    assert end_to_end(arrays.trees, LATENCY).tolist() == [35.0, 5.0]
    assert end_to_end_latency(arrays.trees, LATENCY) == pytest.approx(0.75 * 35 + 0.25 * 5)
    assert parts(arrays.trees, LATENCY) == pytest.approx([1, 0.75, 0.15, 0.75, 0.15])


def test_a_pair_in_two_places_counts_twice() -> None:
    arrays = asked(Root("read", 1, Call("0", ((Call("1"),), (Call("1"),)))))
    assert end_to_end(arrays.trees, np.array([7.0])).tolist() == [14.0]
    assert parts(arrays.trees, np.array([7.0])).tolist() == [2.0]


def test_a_call_that_few_requests_make_counts_for_those() -> None:
    arrays = asked(Root("read", 1, Call("0", ((Call("1", ((Call("2"),),), calls=0.5),),))))
    assert end_to_end(arrays.trees, np.array([4.0, 6.0])).tolist() == [5.0]
    assert parts(arrays.trees, np.array([4.0, 6.0])).tolist() == [0.5, 0.5]


def test_parts_are_the_gradient_of_the_whole_where_nothing_is_parallel() -> None:
    arrays = asked(Root("read", 1, Call("0", ((Call("1"),), (Call("2", ((Call("3"),),)),)))))
    latency = np.array([3.0, 4.0, 5.0])
    moved = [
        end_to_end_latency(arrays.trees, latency + np.eye(3)[position]) - end_to_end_latency(arrays.trees, latency)
        for position in range(3)
    ]
    assert parts(arrays.trees, latency) == pytest.approx(moved)
