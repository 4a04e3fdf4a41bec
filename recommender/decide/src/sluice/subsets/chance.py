"""Pseudo-random numbers that depend on names alone: the same names give the same numbers, in any order of calls."""

from __future__ import annotations

import hashlib

import numpy as np

from sluice.subsets.fleet import Floats, Ints


def seed(*names: str) -> int:
    """64 bits of a hash, the same on every machine and in every release."""
    return int.from_bytes(hashlib.blake2b("\0".join(names).encode(), digest_size=8).digest(), "big")


def draws(of: int, count: int) -> Floats:
    """`count` numbers in [0, 1), seeded by `of`."""
    return np.random.Generator(np.random.PCG64(of)).random(count)


def shuffled(of: int, count: int) -> Ints:
    """0 to count - 1 in a random order, seeded by `of`."""
    return np.argsort(draws(of, count), kind="stable")
