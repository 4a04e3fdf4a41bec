"""Rocksteadier, Google's default (Ward, ACM Queue 2022), from secondary descriptions.

Clients and backends are padded into lots of 10. A lot of clients shuffles the backends within each lot of backends, in
its own way. This gives a matrix with a row for each of its clients and a column for each lot of backends. A client
walks along its own row, then the next ones, and skips pads, until it has k backends. So a lot of clients uses each
backend equally often, up to one. Columns are in the order of Ringsteady, and begin at the place of the client's lot on
the ring. Rows are given to clients in that order too.
"""

from __future__ import annotations

import numpy as np

from sluice.subsets.chance import shuffled
from sluice.subsets.connections import Connections, connections
from sluice.subsets.fleet import Fleet, Floats, Ints
from sluice.subsets.rivals.ring import order, place

LOT = 10


def rocksteadier(upstream: Fleet, downstream: Fleet, sent: Floats, size: int, quota: int) -> Connections:
    """A container's number is its place by name. `sent` and `quota` are not used."""
    count = len(downstream)
    lots = order(-(-count // LOT))
    rows = {client: row for row, client in enumerate(order(LOT))}
    chosen: list[Ints] = []
    for lot in range(-(-len(upstream) // LOT)):
        begin = next((at for at, lot_ in enumerate(lots) if place(lot_) >= place(lot)), 0)
        columns = [_shuffled(lot, lot_) for lot_ in lots[begin:] + lots[:begin]]
        matrix = np.array(columns).T
        for client in range(min(LOT, len(upstream) - lot * LOT)):
            walk = np.roll(matrix, -rows[client], axis=0).ravel()
            chosen.append(walk[walk < count][:size])
    return connections(chosen)


def _shuffled(client_lot: int, lot: int) -> Ints:
    """The backends of a lot, pads included, in the order that this lot of clients gives them."""
    return lot * LOT + shuffled((client_lot << 32) | lot, LOT)
