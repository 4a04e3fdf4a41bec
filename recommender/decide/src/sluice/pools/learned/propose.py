"""The size that an agent proposes: the highest Q among the sizes that are not worse than the one in force
(evaluate.py). Where it proposes none, the belief over the curve decides.

Once a size of the agent is in force, the agent stays in charge and explores around it, as long as requests are in time.
With LR below 0.9, and no better size that it may choose, it hands the pool back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.pools.learned.agent import Opinion
from sluice.pools.learned.evaluate import LEAST_SECONDS
from sluice.pools.learned.sizes import nearest

# A change needs a value that is higher by this part.
LEAST_GAIN = 0.005
IN_TIME = 0.9


@dataclass(frozen=True)
class AgentProposal:
    """size: None where the belief decides. why: the text of the reason; code: its code."""

    size: int | None
    code: str
    why: str
    explores: bool = False


def propose(of: Opinion, current: int, in_charge: bool, may_look: bool) -> AgentProposal:
    """current: the size in force. in_charge: the agent named it. may_look: the pool may try a size.
    =>
                f"one in ten decisions tries a size nearby: {of.sizes[explored]} instead of {current}"
    """
    at = int(nearest(of.sizes, np.array([float(current)]))[0])
    allowed = of.worth.not_worse(at)
    best = int(allowed[of.values[allowed].argmax()]) if len(allowed) else at
    least = of.values[at] + LEAST_GAIN * abs(of.values[at])
    if best != at and of.values[best] > least:
        gain = of.worth.mean[best] - of.worth.mean[at]
        why = f"Q {of.values[best]:.3f} at {of.sizes[best]}, {of.values[at]:.3f} at {of.sizes[at]}"
        return AgentProposal(int(of.sizes[best]), "LEARNED", f"{why}; evaluated {gain:+.3f} of reward, not worse")
    if not in_charge:
        return AgentProposal(None, "NOT_LICENSED", _lacks(of, at))
    if of.state[1] < IN_TIME:
        return AgentProposal(
            None, "HANDED_BACK", f"LR {of.state[1]:.2f} is below {IN_TIME}, and no size is known better"
        )
    noise = of.noise if may_look else 0
    explored = min(max(at + noise, 0), len(of.sizes) - 1)
    if explored != at:
        text = f"one in ten decisions tries a size nearby: {of.sizes[explored]} instead of {current}"
        return AgentProposal(int(of.sizes[explored]), "EXPLORES", text, explores=True)
    return AgentProposal(current, "LEARNED", f"no size that may be chosen has a higher Q than {of.sizes[at]}")


def _lacks(of: Opinion, at: int) -> str:
    greedy = int(of.values.argmax())
    if greedy == at:
        return f"Q is highest at {of.sizes[at]}, the size in force"
    if of.worth.seconds[greedy] < LEAST_SECONDS:
        seconds = of.worth.seconds[greedy]
        return f"Q is highest at {of.sizes[greedy]}, which was in force for {seconds:.0f} s under the present load"
    return f"Q is highest at {of.sizes[greedy]}, which may be worse than the size in force"
