"""The SLOs of a pool: those that it names, else those of its service, else the first pattern that matches."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.config import Config
from sluice.model.patterns import like, matches

EXACT = {"service": "web", "operation": "GET /cart", "latency": "100ms"}
WEB = {"service": "web", "latency": "300ms"}
WIDE = {"service": "w*", "latency": "400ms"}
ALL = {"service": "*", "latency": "500ms"}


def slos_of(slos: list[dict[str, Any]], **pool: Any) -> list[tuple[str, str, float]]:
    config = Config.model_validate({"slos": slos, "pools": [{"service": "web", "side": "server", **pool}]})
    return [(slo.name, slo.service, slo.latency) for slo in config.slos_of(config.pools[0])]


@pytest.mark.parametrize(
    ("slos", "expected"),
    [
        ([ALL, WIDE], [("* of web", "web", 500.0)]),
        ([WIDE, ALL], [("w* of web", "web", 400.0)]),
        ([WIDE | {"name": "wide"}], [("wide of web", "web", 400.0)]),
        ([ALL, WEB, EXACT], [("web", "web", 300.0), ("web/GET /cart", "web", 100.0)]),
        ([ALL, WEB | {"operation": "GET *"}, WEB], [("web", "web", 300.0)]),
        ([{"service": "shop", "latency": "1s"}, WEB], [("web", "web", 300.0)]),
    ],
)
def test_a_pool_that_names_none_has_those_of_its_service(
    slos: list[dict[str, Any]], expected: list[tuple[str, str, float]]
) -> None:
    assert slos_of(slos) == expected


def test_a_named_pattern_stays_one() -> None:
    assert slos_of([ALL | {"name": "all"}, WEB], slo="all") == [("all", "*", 500.0)]


def test_a_threshold_of_its_own_has_no_slo() -> None:
    assert slos_of([ALL, WEB], threshold="50ms") == []


def test_pools_under_one_pattern_share_no_path() -> None:
    """Else one of them at a time could look at another size."""
    pools = [{"service": name, "side": "server"} for name in ("web", "shop")]
    config = Config.model_validate({"slos": [ALL], "pools": pools})
    assert [config.slo_names(pool) for pool in config.pools] == [["* of web"], ["* of shop"]]


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("web-*", "web-", True),
        ("w-*", "my-w", False),
        ("*a*a", "aba", True),
        ("*", "", True),
        ("w.b", "web", False),
    ],
)
def test_patterns(pattern: str, name: str, expected: bool) -> None:
    assert matches(pattern, name) is expected


@given(st.text(), st.text(), st.text())
def test_a_star_stands_for_any_text(before: str, between: str, after: str) -> None:
    before, after = before.replace("*", ""), after.replace("*", "")
    assert matches(f"{before}*{after}", before + between + after)
    assert matches(before, before)


def test_like_takes_its_own_signs_for_themselves() -> None:
    assert like(r"a_b%c\*") == r"a\_b\%c\\%"
