"""Who is raced, by what the proof asks of them."""

from bench.controllers.racers import HARDWARE, RACERS, SLUICE
from bench.controllers.rivals import RIVALS

SEEDS = (1, 2, 3, 4, 5)
"""That everyone is judged on."""

LATE = [name for name in RACERS if name in RIVALS or name.endswith("(told of scaling)")]
"""Rivals whose data are as old as Sluice's: these are to be beaten."""
FRESH = [name for name in RACERS if name.endswith("(undelayed)")]
PUBLISHED = [name for name in RACERS if name.endswith("as published")]
VARIANTS = [name for name in RACERS if name.startswith(f"{SLUICE} with ")]
"""What the model is worth: the same loop with another one, or with one that never names a size."""
WITHOUT = [*VARIANTS, HARDWARE]
"""And holding."""

EVERYONE = [SLUICE, *VARIANTS, HARDWARE, *PUBLISHED, *LATE, *FRESH]
