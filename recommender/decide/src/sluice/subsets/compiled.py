"""Loops that Numba compiles: once, and kept beside the file that has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Kept beside its file, or in the user's cache where that is read-only, until that file changes: constants of other
    files come as arguments."""
    try:
        return cast(Function, numba.njit(cache=True, error_model="numpy")(function))
    except RuntimeError:  # there is nowhere to keep it: each process compiles for itself
        return cast(Function, numba.njit(error_model="numpy")(function))
