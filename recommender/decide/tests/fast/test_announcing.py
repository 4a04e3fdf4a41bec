"""Who waits for a compilation sees what it waits for."""

from pathlib import Path

import numba
import pytest

from sluice.fast.announcing import announcing


def test_a_line_before_the_first_compilation_and_one_after_the_last() -> None:
    lines: list[str] = []
    one, two = numba.njit(lambda x: x + 1), numba.njit(lambda x: x + 2)
    with announcing(lines.append, "some 10 s"):
        assert lines == []
        assert one(1) == 2
        assert lines == ["compiling loops, which takes some 10 s; no folder is writable to keep them"]
        assert two(1) == 3
    assert lines[1:] == [line for line in lines if line.startswith("compiled the loops in ")]
    assert len(lines) == 2


def test_the_place_of_the_result_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    lines: list[str] = []

    def three(x: int) -> int:
        return x + 3

    with announcing(lines.append, "some 10 s"):
        numba.njit(cache=True)(three)(1)
    assert f"it keeps them for the next process, the first in {tmp_path}/" in lines[0]


def test_what_is_compiled_already_is_not_announced() -> None:
    lines: list[str] = []
    one = numba.njit(lambda x: x + 1)
    one(1)
    with announcing(lines.append, "some 10 s"):
        one(2)
    assert lines == []
