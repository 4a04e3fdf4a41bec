"""Versions that tools print, and pins."""

import hashlib

import pytest

from stack.pinned import integrity_of
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


def test_integrity_is_the_registrys_notation() -> None:
    # The SHA-512 of nothing starts with the bytes cf 83 e1 35, in base64 z4PhN...
    assert integrity_of(b"").startswith("sha512-z4PhN")
    assert len(integrity_of(b"x")) == len("sha512-") + 88
    assert hashlib.sha512(b"").hexdigest().startswith("cf83e135")
