"""Vectors: what engines in plain Python did before compiled ones took their place, event by event the same.

``vectors/NAME.json`` is a list of cases, each with its input and with what was seen: outlines of arrays. The plain
engines stood beside the compiled ones up to commit 3b32b9a.
"""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from testbed.fine import PoolWindows

FOLDER = Path(__file__).with_name("vectors")
PLACES = 4
#: The mathematics of C libraries differ in the last bit.
RELATIVE = 1e-9


def cases(name: str) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in json.loads((FOLDER / f"{name}.json").read_text())]


def outline(values: Any) -> list[float]:
    """Number, sum, sum by rank (the order counts) and some evenly spaced values; -1 for what is infinite."""
    flat = np.asarray(values, dtype=float).ravel()
    flat = np.where(np.isinf(flat), -1.0, flat)
    places = np.linspace(0, len(flat) - 1, PLACES).astype(int) if len(flat) else []
    return [float(len(flat)), float(flat.sum()), float(flat @ np.arange(1, len(flat) + 1)), *flat[places].tolist()]


def windows_outline(windows: PoolWindows) -> list[list[float]]:
    """Of each field that the plain engines had, ``own`` and ``judge`` by theirs."""
    columns = []
    for field in dataclasses.fields(windows):
        if field.name == "waiting_ns":
            continue
        value = getattr(windows, field.name)
        parts = dataclasses.astuple(value) if dataclasses.is_dataclass(value) else (value,)
        columns += [outline(part) for part in parts]
    return columns


def assert_as_seen(ours: list[list[float]], recorded: list[list[float]]) -> None:
    assert len(ours) == len(recorded)
    for one, other in zip(ours, recorded, strict=True):
        assert one == pytest.approx(other, rel=RELATIVE, abs=RELATIVE)
