"""A warm start: the best configurations of an earlier session are tried first in a new one.

Only configurations are taken over, and measured again. Values from another day, load or version are not comparable.
"""

from __future__ import annotations

from sluice.tuning.objective.outcome import TrialVerdict
from sluice.tuning.session.session import Session, value
from sluice.tuning.space import Configuration, Space

BEST = 3


def first(earlier: Session, space: Space, count: int = BEST) -> tuple[Configuration, ...]:
    """The best `count` configurations of an earlier session, best first, adapted to `space`.

    A new parameter has its default, a removed one is left out, and a value that is no longer legal becomes the default.
    A configuration that then breaks a constraint moves towards the default. One that equals the default is left out.
    """
    good = [trial for trial in earlier.searched if trial.outcome and trial.outcome.verdict is TrialVerdict.GOOD]
    good = [trial for trial in sorted(good, key=value) if trial.number not in earlier.refuted]
    configurations: list[Configuration] = []
    for trial in good:
        known = {
            name: value
            for name, value in trial.configuration.items()
            if name in space.kinds and space.kinds[name].takes(value)
        }
        configuration = space.configuration(space.repaired(space.point(known)))
        exact = {name: known.get(name, value) for name, value in configuration.items()}
        configuration = configuration if space.problems(exact) else exact  # a float's point has a rounding error
        if configuration != space.default and configuration not in configurations:
            configurations.append(configuration)
    return tuple(configurations[:count])
