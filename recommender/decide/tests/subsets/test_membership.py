"""Who comes and goes changes connections, and nothing else has to be known."""

from __future__ import annotations

import random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sluice.model.containers import NotifiedContainer, ReportedContainers
from sluice.subsets.application import USUAL
from sluice.subsets.liveness import LivenessRules
from sluice.subsets.members import Member, Members, members, newer
from sluice.subsets.membership import ConnectionLimits, follow
from sluice.subsets.observed import ObservedApplication, ObservedContainer

PAIR = ("a", "b")


def some(service: str, *numbers: int, **more: object) -> tuple[Member, ...]:
    return tuple(Member(f"{service}-{number}", **more) for number in numbers)  # type: ignore[arg-type]


def one(before: dict[str, dict[str, int]], there: Members) -> dict[str, dict[str, int]]:
    return follow({PAIR: before}, there, ConnectionLimits())[PAIR]


BEFORE = {"a-0": {"b-0": 150, "b-1": 50}, "a-1": {"b-1": 100, "b-2": 100}}


def test_who_stays_keeps_connections_and_weights() -> None:
    assert one(BEFORE, {"a": some("a", 0, 1), "b": some("b", 0, 1, 2)}) == BEFORE


def test_what_one_leaves_open_goes_to_those_with_the_fewest_callers() -> None:
    """b-0 goes: a-0 takes b-2 or none, since b-1 it has; its weight is that of what a-0 still has."""
    assert one(BEFORE, {"a": some("a", 0, 1), "b": some("b", 1, 2)}) == {
        "a-0": {"b-1": 50, "b-2": 50},
        "a-1": {"b-1": 100, "b-2": 100},
    }


def test_a_new_downstream_one_gets_its_part_and_no_more() -> None:
    """8 callers with 2 connections each of 4: the fifth gets 16 // 5 = 3, of those with the most callers."""
    previous = {f"a-{n}": {f"b-{n % 4}": 100, f"b-{(n + 1) % 4}": 100} for n in range(8)}
    after = one(previous, {"a": some("a", *range(8)), "b": some("b", *range(5))})
    calls = [to for ends in after.values() for to in ends]
    assert {to: calls.count(to) for to in sorted(set(calls))} == {"b-0": 3, "b-1": 3, "b-2": 3, "b-3": 4, "b-4": 3} or (
        calls.count("b-4") == 3 and sorted(map(calls.count, {"b-0", "b-1", "b-2", "b-3"})) == [3, 3, 3, 4]
    )
    moved = sum(to not in previous[name] for name, ends in after.items() for to in ends)
    assert moved == 3


def test_a_new_upstream_one_gets_as_many_as_the_others_have() -> None:
    after = one(BEFORE, {"a": some("a", 0, 1, 2), "b": some("b", 0, 1, 2)})
    assert {name: after[name] for name in BEFORE} == BEFORE
    assert len(after["a-2"]) == 2
    assert set(after["a-2"].values()) == {100}


def test_a_number_that_was_chosen_stays_below_the_usual_one() -> None:
    """8 callers with 2 connections each of 8; a ninth one: 18, where the usual number would be 36."""
    previous = {f"a-{n}": {f"b-{n}": 100, f"b-{(n + 1) % 8}": 100} for n in range(8)}
    after = one(previous, {"a": some("a", *range(9)), "b": some("b", *range(8))})
    assert [len(ends) for ends in after.values()] == [2] * 9


def test_all_drained_are_better_than_none_and_unknown_ones_stay() -> None:
    assert one(BEFORE, {"b": some("b", 0, 1, 2, drained=True)}) == BEFORE
    assert one(BEFORE, {"a": some("a", 0, 1)}) == BEFORE
    assert one(BEFORE, {"b": (*some("b", 0, 1), *some("b", 2, drained=True))}) == {
        "a-0": {"b-0": 150, "b-1": 50},
        "a-1": {"b-0": 100, "b-1": 100},
    }


def test_a_quota_is_kept_and_untouched_pairs_give_last() -> None:
    """12 connections of 12; a doubles, so that of b's 12 for 8 callers only 8 + ... fit: c's pair keeps its 4."""
    previous = {
        ("a", "b"): {f"a-{n}": {"b-0": 100, "b-1": 100} for n in range(4)},
        ("a", "c"): {f"a-{n}": {f"c-{n % 2}": 100} for n in range(4)},
    }
    there = {"a": some("a", *range(8)), "b": some("b", 0, 1), "c": some("c", 0, 1)}
    after = follow(previous, there, ConnectionLimits(quota=18, min_subset=1))
    assert sum(len(ends) for pair in after.values() for ends in pair.values()) == 18
    assert all(len(pair) == 8 and all(pair.values()) for pair in after.values())


def test_seen_and_told_make_members_with_address_and_zone() -> None:
    observed = ObservedApplication(
        (ObservedContainer("b", "b-0", "h0", 9, 0, 100), ObservedContainer("b", "b-9", "h1", 9, 90, 100)), newest_s=100
    )
    reported = {
        "b": ReportedContainers(
            50.0, (NotifiedContainer("b-0", "10.0.0.1:80", zone="z1"), NotifiedContainer("b-1", drained=True))
        )
    }
    assert members(observed, reported, lambda service, instance, host: f"{host}:1", LivenessRules(20.0)) == {
        "b": (Member("b-0", "10.0.0.1:80", "z1"), Member("b-1", ":1", "", True), Member("b-9", "h1:1"))
    }
    assert newer(reported, {"b": 49.0}) == reported
    assert newer(reported, {"b": 50.0}) == {}


def zoned(drawn: random.Random, service: str, count: int, zones: int) -> tuple[Member, ...]:
    chosen = sorted(drawn.sample(range(40), count))
    return tuple(Member(f"{service}-{n}", zone=f"z{n % zones}" if zones else "") for n in chosen)


@settings(max_examples=150, deadline=None)
@example(253, 1, 3)
@example(527, 2, 2)
@given(st.integers(0, 1_000_000), st.integers(1, 4), st.sampled_from([0, 0, 2, 3]))
def test_over_any_changes_everybody_has_those_who_are_there_within_all_bounds(
    seed: int, min_subset: int, zones: int
) -> None:
    drawn = random.Random(seed)
    bounds = ConnectionLimits(drawn.choice([None, drawn.randint(1, 120)]), min_subset, zones > 0)
    keys = [("a", "b"), ("a", "c"), ("b", "c")]
    now = {key: {f"{key[0]}-0": {f"{key[1]}-0": drawn.randint(1, 300)}} for key in keys}
    for _ in range(4):
        there = {name: zoned(drawn, name, drawn.randint(1, 20), zones) for name in "abc"}
        was, now = now, follow(now, there, bounds)
        fewest = most = usual = 0
        for key in keys:
            up, down = there[key[0]], there[key[1]]
            names = {member.instance for member in down}
            assert now[key].keys() == {member.instance for member in up}
            usual += USUAL * len(up)
            reached = set()
            for member in up:
                own = {to.instance for to in down if to.zone == member.zone} if zones else names
                may = own or names
                reached |= may
                ends = now[key][member.instance]
                assert ends.keys() <= may
                assert len(ends) >= min(min_subset, len(may))
                fewest += max(min(min_subset, len(may)), -(-len(may) // _sharing(up, down, member, zones)))
                most += len(may)
                kept = was[key].get(member.instance, {})
                assert all(ends[to] == weight for to, weight in kept.items() if to in ends)
            assert {to for ends in now[key].values() for to in ends} == reached
        quota = usual if bounds.quota is None else bounds.quota
        total = sum(len(ends) for pair in now.values() for ends in pair.values())
        assert total <= min(max(quota, fewest), most)
        assert follow(now, there, bounds) == now, "nothing more changes"


def _sharing(up: tuple[Member, ...], down: tuple[Member, ...], one: Member, zones: int) -> int:
    """How many reach together whom this one may be connected to."""
    there = {member.zone for member in down}
    if not zones or one.zone not in there:
        return sum(not zones or member.zone not in there for member in up)
    return sum(member.zone == one.zone for member in up)
