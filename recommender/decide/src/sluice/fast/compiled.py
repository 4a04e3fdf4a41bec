"""Compiles loops with Numba, once, and caches the result beside the source file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Caches beside the source file, or in the user's cache where that is read-only, until the source file changes. A
    change of another file does not invalidate the cache, so constants of other files must come as arguments."""
    try:
        return cast(Function, numba.njit(cache=True, error_model="numpy")(function))
    except RuntimeError:  # no cache directory is writable: each process compiles for itself
        return cast(Function, numba.njit(error_model="numpy")(function))
