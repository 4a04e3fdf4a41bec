"""The format Native, from bytes written by hand."""

import struct

import pytest

from sluice.clickhouse.native import Arrays, NativeError, columns


def text(words: str) -> bytes:
    return bytes([len(words)]) + words.encode()


# Two rows: 5 and 300; arrays [1, 2] and [-3].
NUMBERS = text("n") + text("UInt16") + struct.pack("<2H", 5, 300)
ARRAYS = text("a") + text("Array(Int8)") + struct.pack("<2Q", 2, 3) + struct.pack("<3b", 1, 2, -3)
BLOCK = bytes([2, 2]) + NUMBERS + ARRAYS
EMPTY = bytes([2, 0]) + text("n") + text("UInt16") + text("a") + text("Array(Int8)")


def test_numbers_and_arrays_of_all_blocks() -> None:
    numbers, arrays = columns(EMPTY + BLOCK + BLOCK)
    assert not isinstance(numbers, Arrays)
    assert isinstance(arrays, Arrays)
    assert numbers.tolist() == [5, 300, 5, 300]
    assert arrays.lengths.tolist() == [2, 1, 2, 1]
    assert arrays.values.tolist() == [1, 2, -3, 1, 2, -3]


def test_lengths_are_seven_bits_a_byte() -> None:
    """200 rows: 0xC8 0x01."""
    (numbers,) = columns(bytes([1, 0xC8, 0x01]) + text("n") + text("UInt8") + bytes(range(200)))
    assert not isinstance(numbers, Arrays)
    assert numbers.tolist() == list(range(200))


def test_nothing_is_no_columns() -> None:
    assert columns(b"") == []
    assert columns(EMPTY) == []


@pytest.mark.parametrize("cut", range(1, len(BLOCK)))
def test_an_answer_that_is_cut_off_is_refused(cut: int) -> None:
    with pytest.raises(NativeError):
        columns(BLOCK[:cut])


def test_other_types_are_refused() -> None:
    with pytest.raises(NativeError, match="'String' is not legal; legal: whole numbers and arrays of them"):
        columns(bytes([1, 1]) + text("s") + text("String") + text("x"))
