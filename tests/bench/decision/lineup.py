"""Who is raced, by what the proof asks of them."""

import os
from collections.abc import Iterable

from bench.controllers.racers import HARDWARE, RACERS, SLUICE
from bench.controllers.rivals import RIVALS

ASKED = {name.strip() for name in os.environ.get("RACERS", "").split(",") if name.strip()}
"""Others are left out, for who wants to know of some alone: `RACERS="sluice,vegas"`. Empty: nobody is."""
if unknown := ASKED - set(RACERS):
    raise SystemExit(f"RACERS: {', '.join(sorted(unknown))} is not legal; legal: {', '.join(RACERS)}")

SEEDS = (1, 2, 3, 4, 5)
"""That everyone is judged on."""


def of_asked(names: Iterable[str]) -> list[str]:
    """Those that were asked for, and Sluice and holding, which the others are compared with."""
    return [name for name in names if not ASKED or name in ASKED or name in (SLUICE, HARDWARE)]


LATE = of_asked(name for name in RACERS if name in RIVALS or name.endswith("(told of scaling)"))
"""Rivals whose data are as old as Sluice's: these are to be beaten."""
FRESH = of_asked(name for name in RACERS if name.endswith("(undelayed)"))
PUBLISHED = of_asked(name for name in RACERS if name.endswith("as published"))
VARIANTS = of_asked(name for name in RACERS if name == f"{SLUICE} with nothing" or name.endswith("with our gates"))
"""What the model is worth: the same loop with another one, or with one that never names a size."""
WITHOUT = [*VARIANTS, HARDWARE]
"""And holding."""
EVERYONE = [SLUICE, *VARIANTS, HARDWARE, *PUBLISHED, *LATE, *FRESH]
