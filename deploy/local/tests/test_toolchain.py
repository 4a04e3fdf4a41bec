"""Versions that tools print."""

import pytest

from stack.toolchain import Version, version_in


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("javac 17.0.15", (17, 0, 15)),
        ("javac 1.8.0_412", (8,)),
        ("javac 21", (21,)),
        ("go version go1.26.8 linux/amd64", (1, 26, 8)),
        (" 3.8.7", (3, 8, 7)),
        ("", ()),
        ("command not found", ()),
    ],
)
def test_version_in(text: str, version: Version) -> None:
    assert version_in(text) == version


def test_no_version_is_older_than_any() -> None:
    assert version_in("") < (1, 26)
