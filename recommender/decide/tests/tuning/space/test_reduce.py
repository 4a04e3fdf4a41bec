"""Which services are left by each rule, and what is said of the others."""

import math

from hypothesis import given
from hypothesis import strategies as st

from sluice.tuning.space import Integer, Parameter, Space
from sluice.tuning.space.constraint import Linear
from sluice.tuning.space.reduce import Figures, Left, Rule, bottlenecks, reduced

SERVICES = {"web": "ab", "posts": "a", "media": "abc", "idle": "a"}
OWN = [
    Parameter(f"{service}.{name}", Integer(1, 9), 5, service) for service, names in SERVICES.items() for name in names
]
SPACE = Space((*OWN, Parameter("all", Integer(1, 9), 5)), (Linear((("web.a", 1.0), ("media.a", 2.0)), at_most=20.0),))
FIGURES = {
    "web": Figures(share=1.0, self_ms=1.0, variation=0.2),
    "posts": Figures(share=0.3, self_ms=0.99, variation=0.51),
    "media": Figures(share=0.0, self_ms=0.0, variation=math.nan),
}


def kept(*rules: Rule, named: tuple[str, ...] = ()) -> list[str]:
    space, left = reduced(SPACE, FIGURES, rules, named)
    assert {service.service for service in left}.isdisjoint(parameter.service for parameter in space.parameters)
    assert "all" in [parameter.name for parameter in space.parameters]
    assert len(space.parameters) + sum(service.parameters for service in left) == len(SPACE.parameters)
    return list(dict.fromkeys(parameter.service for parameter in space.parameters if parameter.service))


def test_each_rule_and_rules_joined() -> None:
    assert kept(Rule.CRITICAL_PATH) == ["web"]
    assert kept(Rule.VARIANCE) == ["posts"]
    assert kept(Rule.NAMED, named=("media",)) == ["media"]
    assert kept(Rule.CRITICAL_PATH, Rule.VARIANCE) == ["web", "posts"]
    assert kept(Rule.BOTTLENECK) == ["web", "posts"]  # 1 ms of 1.297 are 77 %
    assert kept(Rule.BOTTLENECK, Rule.NAMED, named=("media",)) == ["web", "posts", "media"]
    assert kept() == ["web", "posts", "media", "idle"]


def test_what_is_left_out_is_said_with_its_reason() -> None:
    space, left = reduced(SPACE, FIGURES, [Rule.CRITICAL_PATH, Rule.VARIANCE])
    assert left == (
        Left("media", 3, "is on no critical path; has a coefficient of variation of nan"),
        Left("idle", 1, "has no spans under this root"),
    )
    # media.a stays at 5, twice: 10 of the 20 are left to web.a.
    assert space.constraints == (Linear((("web.a", 1.0),), at_most=10.0),)
    (posts,) = [service for service in reduced(SPACE, FIGURES, [Rule.CRITICAL_PATH])[1] if service.service == "posts"]
    assert posts.why == "has 0.99 ms of its own on the critical path"


def test_bottlenecks_have_more_than_four_fifths_of_the_path_together() -> None:
    def figures(**path_ms: float) -> dict[str, Figures]:
        return {name: Figures(0.5, 2 * ms, 1.0) for name, ms in path_ms.items()}

    assert bottlenecks(figures(a=1, b=8, c=1)) == ("b", "a")  # 8 of 10 are not more than 80 %
    assert bottlenecks(figures(a=1, b=8.1, c=1)) == ("b",)
    assert bottlenecks(figures(b=3, a=3, c=1)) == ("a", "b")  # 6 of 7
    assert bottlenecks(figures(a=0, b=0)) == ()
    assert bottlenecks({}) == ()


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 50)))
def test_none_of_the_bottlenecks_could_be_spared(path_ms: dict[str, int]) -> None:
    services = bottlenecks({name: Figures(1.0, float(ms), 1.0) for name, ms in path_ms.items()})
    total, held = sum(path_ms.values()), [path_ms[service] for service in services]
    assert held == sorted(path_ms.values(), reverse=True)[: len(held)]
    assert 5 * sum(held) > 4 * total or total == 0 == len(held)
    assert 5 * sum(held[:-1]) <= 4 * total
