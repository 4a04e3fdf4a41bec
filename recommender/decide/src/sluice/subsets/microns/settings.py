"""The settings of Microns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


class NumberRule(Enum):
    """What a run does about the number of connections where no quota is set. A solution from nothing has the fewest
    that suffice, by each rule but USUAL."""

    #: `application.USUAL` for each upstream container: without latency samples there is no prediction to choose by.
    USUAL = "USUAL"
    #: A continued solution keeps its number, scaled with the containers.
    KEEP = "KEEP"
    #: The number may rise.
    RISE = "RISE"
    #: The number may rise or fall.
    MOVE = "MOVE"


@dataclass(frozen=True)
class MicronsSettings:
    """Defaults are those of the paper (7.4), except for weights, which the paper does not have.

    weights: whether connections have weights. learning_rate: eta. stagnation: theta, the iterations without a better
    latency after which the loop ends. balance: beta, how far the latencies of a service's containers may differ,
    relative to their mean. churn_budget: the part of all connections that may change for a better latency. It does not
    limit the changes that a new or gone container makes necessary. quotas_follow: whether quotas of a previous solution
    move within it; the decider sets this where latencies or contention are others. number: what happens to the number
    of connections where no quota is set; the decider and `strategy_result.answer` set it.
    """

    weights: bool = True
    learning_rate: float = 0.5
    stagnation: int = 5
    balance: float = 0.1
    churn_budget: float = 0.05
    quotas_follow: bool = False
    number: NumberRule = NumberRule.USUAL

    def problems(self) -> Iterator[str]:
        if not 0 < self.learning_rate <= 1:
            yield f"microns: learning_rate {self.learning_rate:g} is not legal; legal: above 0, up to 1"
        if self.stagnation < 1:
            yield f"microns: stagnation {self.stagnation} is not legal; legal: 1 or more"
        if not 0 < self.balance < 1:
            yield f"microns: balance {self.balance:g} is not legal; legal: between 0 and 1"
        if not 0 <= self.churn_budget <= 1:
            yield f"microns: churn_budget {self.churn_budget:g} is not legal; legal: 0 to 1"
