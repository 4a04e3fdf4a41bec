"""Deterministic subsetting of the SRE book (Beyer et al., 2016, chapter 20); Microns, 7.1, calls it Rocksteadier.

The N backends form N // k subsets. That many clients with neighbouring numbers, a round, take one subset each. Every
round shuffles the backends anew. N % k backends get nothing in a round.
"""

from __future__ import annotations

from sluice.subsets.chance import shuffled
from sluice.subsets.connections import Connections, connections
from sluice.subsets.fleet import Fleet, Floats


def sre(upstream: Fleet, downstream: Fleet, sent: Floats, size: int, quota: int) -> Connections:
    """A client's number is its place by name. `sent` and `quota` are not used."""
    subsets = len(downstream) // size
    rounds = [shuffled(number, len(downstream)) for number in range(-(-len(upstream) // subsets))]
    places = [(client // subsets, client % subsets) for client in range(len(upstream))]
    return connections([rounds[place][at * size : (at + 1) * size] for place, at in places])
