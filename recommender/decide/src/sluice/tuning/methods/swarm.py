"""Particle swarm (Kennedy and Eberhart 1995, doi:10.1109/ICNN.1995.488968; constants of Clerc and Kennedy 2002).

    v' = w v + c r1 (p - x) + c r2 (g - x),  x' = x + v',  w = 0.7298, c = 1.4962

x is the particle's last point, v its last move, p its best point, g the swarm's. Trial n moves particle n mod S. At a
bound a particle stops. Trials are reported one by one, so there are no generations: a move uses all earlier reports. A
particle begins at a random point and at rest; the first one begins at the default, which is trial 0. S is a fifth of
the budget, from 3 to 20.
"""

from __future__ import annotations

import numpy as np

from sluice.tuning.methods.question import Question
from sluice.tuning.space import Point

INERTIA, PULL = 0.7298, 1.4962


def propose(question: Question) -> Point:
    particle, particles = question.number % swarm(question.budget), swarm(question.budget)
    generator = question.generator()
    points = dict(question.flying) | {trial.number: trial.point for trial in question.reported}
    path = [points[number] for number in sorted(points) if number % particles == particle]
    if not path:
        return generator.random(question.dimensions)
    own = [trial for trial in question.reported if trial.number % particles == particle]
    best = min(own, key=lambda trial: trial.loss).point if own else path[-1]
    leader = question.best.point if question.best else path[-1]
    velocity = path[-1] - path[-2] if len(path) > 1 else np.zeros(question.dimensions)
    own_pull, swarm_pull = generator.random((2, question.dimensions))
    velocity = INERTIA * velocity + PULL * own_pull * (best - path[-1]) + PULL * swarm_pull * (leader - path[-1])
    return np.asarray(np.clip(path[-1] + velocity, 0.0, 1.0), dtype=np.float64)


def swarm(budget: int) -> int:
    """The number of particles."""
    return min(max(budget // 5, 3), 20)
