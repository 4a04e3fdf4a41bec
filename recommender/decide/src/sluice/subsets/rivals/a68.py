"""Random subsetting of gRPC (gRFC A68): each client hashes all backends with a salt of its own and takes the first k.

A backend that comes or goes changes at most one connection of a client. The number of clients of a backend is binomial.
"""

from __future__ import annotations

import hashlib

import numpy as np

from sluice.subsets.connections import Connections, connections
from sluice.subsets.fleet import Fleet, Floats, Ints


def a68(upstream: Fleet, downstream: Fleet, sent: Floats, size: int, quota: int) -> Connections:
    """The salt is the client's name, so that the result is reproducible. `sent` and `quota` are not used."""
    backends = [name.encode() for name in downstream.names]
    return connections([_first(client.encode(), backends, size) for client in upstream.names])


def _first(client: bytes, backends: list[bytes], size: int) -> Ints:
    salt = hashlib.blake2b(client, digest_size=16).digest()
    hashes = np.array(
        [int.from_bytes(hashlib.blake2b(backend, digest_size=8, key=salt).digest(), "big") for backend in backends],
        dtype=np.uint64,
    )
    return np.argsort(hashes, kind="stable")[:size].astype(np.int64)
