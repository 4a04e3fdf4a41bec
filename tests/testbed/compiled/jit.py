"""Functions compiled by Numba; what it compiled is kept under ``.cache/numba`` for the next process."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba

TESTBED = Path(__file__).parents[1]
CACHE = TESTBED.parents[1] / ".cache" / "numba"
ROOMS = ("compiled", "mesh", "tiers")

F = TypeVar("F", bound=Callable[..., object])


def _sources() -> str:
    """Numba looks at the file of a function only, not at those of the functions that it calls."""
    digest = hashlib.sha256()
    for room in ROOMS:
        for path in sorted((TESTBED / room).glob("*.py")):
            if not path.name.startswith("test_"):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


numba.config.CACHE_DIR = str(CACHE / _sources())  # type: ignore[attr-defined]


def compiled(function: F) -> F:
    return cast(F, numba.njit(cache=True, error_model="numpy")(function))
