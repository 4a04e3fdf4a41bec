"""Instances that come and go: how many are there, and how many are new in a minute."""

import random

from sluice_kit.traffic.churn import PLACES, SERVICES, instance, trace


def alive(second: int) -> set[str]:
    return {instance("cart", place, second) for place in range(PLACES)}


def test_places_change_one_after_another_once_a_minute() -> None:
    # 1800 = 10 x 180: no version begins within the minute after it.
    assert len(alive(1800)) == PLACES
    assert len(alive(1800) & alive(1830)) == PLACES // 2
    assert not alive(1800) & alive(1860)
    in_a_minute = set().union(*map(alive, range(1801, 1861))) - alive(1800)
    assert len(in_a_minute) * len(SERVICES) == 200


def test_a_version_has_other_instances() -> None:
    assert not alive(1799) & alive(1800)


def test_a_trace_has_one_instance_of_each_service() -> None:
    spans = trace(random.Random(1), "x-", 1_800_000_000_000)
    assert {span.service for span in spans} == {f"x-{service}" for service in SERVICES}
    assert len({span.instance for span in spans}) == len(SERVICES)
