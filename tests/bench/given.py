"""What the testbed knows, in the product's own classes: of its figures those that the class has a field for."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

Of = TypeVar("Of")


def given(of: type[Of], **figures: Any) -> Of:
    """A decision that looks at more is tried here as soon as its observation has the field."""
    names = {each.name for each in fields(of)}  # type: ignore[arg-type]
    return of(**{name: value for name, value in figures.items() if name in names})
