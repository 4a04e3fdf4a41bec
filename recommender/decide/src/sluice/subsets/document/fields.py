"""Typed access to the fields of a JSON object. An error names the field's path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sluice.subsets.legal import IllegalSubsetsError


class Fields:
    """One object of the document. `where`: its path, such as `services[2]`."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, Mapping):
            raise _error(where, value, "an object")
        self._value = value
        self.where = where
        self._pending: set[str] = set()

    def path(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def has(self, key: str) -> bool:
        return self._get(key) is not None

    def text(self, key: str, default: str | None = None) -> str:
        value = self._get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise _error(self.path(key), value, "a text")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        value = self._get(key)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _error(self.path(key), value, "a number")
        return float(value)

    def integer(self, key: str, default: int) -> int:
        value = self._get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1:
            raise _error(self.path(key), value, "a whole number")
        return int(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self._get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise _error(self.path(key), value, "true or false")
        return value

    def objects(self, key: str, needed: bool = False) -> Iterator[Fields]:
        value = self._get(key)
        if value is None and not needed:
            return
        if not isinstance(value, list):
            raise _error(self.path(key), value, "a list of objects")
        for number, element in enumerate(value):
            yield Fields(element, f"{self.path(key)}[{number}]")

    def lists(self, key: str) -> Iterator[list[Fields]]:
        """A list of lists of objects."""
        value = self._get(key)
        if value is None:
            return
        where = self.path(key)
        if not isinstance(value, list) or not all(isinstance(stage, list) for stage in value):
            raise _error(where, value, "a list of lists of objects")
        for number, stage in enumerate(value):
            yield [Fields(item, f"{where}[{number}][{at}]") for at, item in enumerate(stage)]

    def object(self, key: str) -> Fields | None:
        value = self._get(key)
        return None if value is None else Fields(value, self.path(key))

    def others(self) -> list[str]:
        """Paths of the keys that no caller read."""
        return [self.path(str(key)) for key in self._value if key not in self._pending]

    def _get(self, key: str) -> Any:
        self._pending.add(key)
        return self._value.get(key)


def _error(where: str, value: Any, legal: str) -> IllegalSubsetsError:
    if value is None:
        return IllegalSubsetsError([f"{where or 'the document'} is missing; legal: {legal}"])
    shown = repr(value)
    shown = shown if len(shown) <= 40 else shown[:37] + "..."
    return IllegalSubsetsError([f"{where or 'the document'} {shown} is not legal; legal: {legal}"])
