"""Who is compared: hardware scaling alone from two sizes of the pool, and with Sluice, in both orders."""

from typing import NamedTuple

SHIPPED = 200
"""Tomcat's default of maxThreads."""


class Arm(NamedTuple):
    """threads: at the start; None: as sized for the smallest limit.

    soft_first: on growth Sluice is told of the new limit when it is decided, and not once it is in force (as Sora 4.1
    has it, and the actuator's source for Kubernetes).
    """

    name: str
    threads: int | None = SHIPPED
    sluice: bool = False
    soft_first: bool = False


SHIPPED_ALONE, SIZED_ALONE = Arm("hardware-shipped"), Arm("hardware-sized", None)
AFTER = Arm("sluice-after", sluice=True)
BEFORE = Arm("sluice-before", sluice=True, soft_first=True)
SIZED_AFTER = Arm("sluice-sized-after", None, sluice=True)
ARMS = (SHIPPED_ALONE, AFTER, SIZED_ALONE, SIZED_AFTER, BEFORE)
