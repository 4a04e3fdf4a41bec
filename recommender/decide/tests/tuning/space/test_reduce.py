"""Which services are left by each rule, and what is said of the others."""

import math

from sluice.tuning.space import Integer, Parameter, Space
from sluice.tuning.space.constraint import Linear
from sluice.tuning.space.reduce import Figures, Left, Rule, reduced

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
    assert {each.service for each in left}.isdisjoint(each.service for each in space.parameters)
    assert "all" in [each.name for each in space.parameters]
    assert len(space.parameters) + sum(each.parameters for each in left) == len(SPACE.parameters)
    return list(dict.fromkeys(each.service for each in space.parameters if each.service))


def test_each_rule_and_rules_joined() -> None:
    assert kept(Rule.CRITICAL_PATH) == ["web"]
    assert kept(Rule.VARIANCE) == ["posts"]
    assert kept(Rule.NAMED, named=("media",)) == ["media"]
    assert kept(Rule.CRITICAL_PATH, Rule.VARIANCE) == ["web", "posts"]
    assert kept() == ["web", "posts", "media", "idle"]


def test_what_is_left_out_is_said_with_its_reason() -> None:
    space, left = reduced(SPACE, FIGURES, [Rule.CRITICAL_PATH, Rule.VARIANCE])
    assert left == (
        Left("media", 3, "is on no critical path; has a coefficient of variation of nan"),
        Left("idle", 1, "has no spans under this root"),
    )
    # media.a stays at 5, twice: 10 of the 20 are left to web.a.
    assert space.constraints == (Linear((("web.a", 1.0),), at_most=10.0),)
    (posts,) = [each for each in reduced(SPACE, FIGURES, [Rule.CRITICAL_PATH])[1] if each.service == "posts"]
    assert posts.why == "has 0.99 ms of its own on the critical path"
