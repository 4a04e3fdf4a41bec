"""What an answer rests on, and whether it is to be applied. Pure; until decisions carry both themselves."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

Basis = Literal["CURVE", "PROBE", "REVERT", "MEMORY", "CARRIED", "LEARNED", "HELD", "OPERATOR"]
Action = Literal["HOLD", "APPLY"]

# Of a reason's code, in the order in which they count: the first one that is there.
_BASES: dict[str, Basis] = {
    "WENT_BACK": "REVERT",
    "EXPLORE": "PROBE",
    "EXPLORE_DOWN": "PROBE",
    "REMEMBERED": "MEMORY",
    "REMEMBERED_SCALED": "MEMORY",
    "CARRIED_OVER": "CARRIED",
    "KEPT": "HELD",
}
# Bases that make a target one to apply where no curve is seen.
_WITHOUT_CURVE = {"PROBE", "REVERT", "MEMORY", "CARRIED"}


class Advice(NamedTuple):
    basis: Basis
    action: Action


def advice(state: str, target: int | None, codes: Collection[str], *, unbounded: bool = False) -> Advice:
    """Basis and action of an answer, from its state, target and codes of reasons.

    unbounded: the pool has no limit. Its first one needs a curve: any other basis compares with a size in force.
    """
    if state == "PAUSED":
        return Advice("OPERATOR", "HOLD")
    basis: Basis = next((basis for code, basis in _BASES.items() if code in codes), "HELD")
    if basis == "HELD" and state in ("PROVIDED", "GUARDED") and "KEPT" not in codes:
        basis = "CURVE"
    if target is None:
        return Advice("HELD", "HOLD")
    applies = state in ("PROVIDED", "GUARDED", "UNSATURATED") or (
        state in ("LEARNING", "NO_DATA") and basis in _WITHOUT_CURVE
    )
    if unbounded and basis != "CURVE":
        applies = False
    return Advice(basis, "APPLY" if applies else "HOLD")
