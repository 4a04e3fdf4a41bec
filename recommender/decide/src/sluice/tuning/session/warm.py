"""A warm start: what an earlier session found, tried first in a new one.

Only configurations are taken over, and measured again: values of another day, load or version are not comparable.
"""

from __future__ import annotations

from sluice.tuning.objective.outcome import Verdict
from sluice.tuning.session.session import Session, value
from sluice.tuning.space import Configuration, Space

BEST = 3


def first(earlier: Session, space: Space, count: int = BEST) -> tuple[Configuration, ...]:
    """The best `count` configurations of an earlier session, best first, as `space` has them.

    A parameter that is new has its default, one that is gone is left out, a value that is no longer legal becomes the
    default; what then breaks a constraint goes towards the default. What becomes the default is left out.
    """
    good = [trial for trial in earlier.searched if trial.outcome and trial.outcome.verdict is Verdict.GOOD]
    good = [trial for trial in sorted(good, key=value) if trial.number not in earlier.refuted]
    found: list[Configuration] = []
    for trial in good:
        known = {
            name: each
            for name, each in trial.configuration.items()
            if name in space.kinds and space.kinds[name].takes(each)
        }
        configuration = space.configuration(space.repaired(space.point(known)))
        exact = {name: known.get(name, each) for name, each in configuration.items()}
        configuration = configuration if space.problems(exact) else exact  # a float's point is off by a rounding
        if configuration != space.default and configuration not in found:
            found.append(configuration)
    return tuple(found[:count])
