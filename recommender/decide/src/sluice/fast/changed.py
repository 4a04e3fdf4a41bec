"""Copies a frozen dataclass with other values, at a quarter of the cost of `dataclasses.replace`."""

from __future__ import annotations

from typing import Any, TypeVar

Value = TypeVar("Value")


def changed(value: Value, **fields: Any) -> Value:
    """A copy of `value` with other values of these fields. For classes that keep their fields in `__dict__` and compute
    none. It does not check names of fields, since it runs for each pool in each period.
    """
    copy = object.__new__(type(value))
    vars(copy).update(vars(value), **fields)
    return copy
