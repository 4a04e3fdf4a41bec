"""Decodes ClickHouse's Native format into numpy arrays, for columns of whole numbers and of arrays of them.

The client's own decoder makes a Python object of each number in an array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = {"UInt": "u", "Int": "i"}
DTYPES = {f"{name}{bits}": f"<{kind}{bits // 8}" for name, kind in KINDS.items() for bits in (8, 16, 32, 64)}

Column = NDArray[Any]


@dataclass(frozen=True)
class Arrays:
    """A column of arrays: their lengths, shape (n,), and their values, concatenated."""

    lengths: NDArray[np.int64]
    values: Column


class NativeError(Exception):
    """The data is not in this format, has another column type, or is truncated."""


def columns(data: bytes) -> list[Column | Arrays]:
    """The columns of a whole answer, over all of its blocks; none for an empty answer. Raises NativeError."""
    at, blocks = 0, []
    while at < len(data):
        block, at = _block(data, at)
        if block:
            blocks.append(block)
    if any(len(block) != len(blocks[0]) for block in blocks):
        raise NativeError("blocks have different columns")
    return [_joined(list(parts)) for parts in zip(*blocks, strict=True)]


def _joined(parts: list[Column | Arrays]) -> Column | Arrays:
    arrays = [part for part in parts if isinstance(part, Arrays)]
    if not arrays:
        return np.concatenate(parts)  # type: ignore[arg-type]
    return Arrays(np.concatenate([one.lengths for one in arrays]), np.concatenate([one.values for one in arrays]))


def _block(data: bytes, at: int) -> tuple[list[Column | Arrays], int]:
    width, at = _varint(data, at)
    rows, at = _varint(data, at)
    block: list[Column | Arrays] = []
    for _ in range(width):
        _, at = _text(data, at)
        kind, at = _text(data, at)
        inner = kind.removeprefix("Array(").removesuffix(")")
        if inner not in DTYPES:
            raise NativeError(f"a column of type {kind[:60]!r} is not legal; legal: whole numbers and arrays of them")
        if inner == kind:
            numbers, at = _numbers(data, at, rows, kind)
            block.append(numbers)
            continue
        ends, at = _numbers(data, at, rows, "UInt64")
        values, at = _numbers(data, at, int(ends[-1]) if rows else 0, inner)
        lengths = ends.astype(np.int64)
        lengths[1:] -= lengths[:-1].copy()
        block.append(Arrays(lengths, values))
    return (block if rows else []), at


def _numbers(data: bytes, at: int, count: int, kind: str) -> tuple[Column, int]:
    dtype = np.dtype(DTYPES[kind])
    end = at + count * dtype.itemsize
    if end > len(data):
        raise NativeError("the answer is truncated")
    return np.frombuffer(data, dtype, count, at), end


def _text(data: bytes, at: int) -> tuple[str, int]:
    size, at = _varint(data, at)
    return data[at : at + size].decode("utf-8", "replace"), at + size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Seven bits a byte, the lowest first. The eighth bit is set where more bytes follow."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise NativeError("the answer is truncated")
