"""What the agent is trained with: uConAdapter's Table 1, and what the paper leaves open."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """capacity .. neurons: Table 1. Two hidden layers.

    alpha, beta   of the reward; the paper prints none
    double        the network chooses the next action, the target network says its worth (van Hasselt et al. 2016)
    dueling       Q(s, a) = V(s) + A(s, a) - mean A (Wang et al. 2016): a size that was never tried is worth what the
                  others are on average, and not what a random weight says
    steps_ahead   rewards that are summed before the network is asked (n-step returns)
    speed_up      100 ms windows are transitions too, with the measured concurrency as their action (3.3)
    noise         steps of the grid that exploration moves by at most
    """

    capacity: int = 10_000
    batch: int = 64
    learning_rate: float = 1e-3
    discount: float = 0.9
    sync_every: int = 10
    epsilon: float = 0.1
    neurons: int = 40
    alpha: float = 0.5
    beta: float = 0.5
    double: bool = True
    dueling: bool = True
    steps_ahead: int = 1
    speed_up: bool = True
    noise: int = 2


SETTINGS = Settings()
