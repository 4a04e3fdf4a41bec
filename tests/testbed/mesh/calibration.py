"""What a host's other tenants and a container's connections cost: each constant, and the published figure behind it.

Fixed on 2026-11-22, before this project had a solver; not to be changed for what a strategy makes of it. The figures
are those of Microns, whose section or figure is named; ``tests/test_mesh_calibration.py`` holds what is said here.

**Contention.** A container of 0.1 cores (7.1) is one processor-sharing server. Its speed is its limit times
``prod (1 - u_r) ** (EXPONENT * w_r)`` over the host's utilizations ``u`` of CPU, memory bandwidth and network; the
weights ``w`` are the service's own and sum to 1. Section 2.2: latency rises "more than 5x" at 60 %; read as the time of
a lone request, which queueing then only lengthens: ``0.4 ** -EXPONENT = 5``, so EXPONENT = ln 5 / ln 2.5 = 1.7565.
Worked: at 20, 35, 60 and 65 % of all three a request takes 1.48, 2.13, 5.0 and 6.32 times as long.

**Load.** Services are sized at 30 % of their CPU limits (7.2.2); NOMINAL is the share of that workload at which figure
4a holds on Social Network with 512 containers: the 95th percentile under Rocksteady is 1.31 times that under a strategy
that gives containers connections in proportion to what their hosts have left, on average over differences between
hosts of 20 to 60 %, and 2.16 times at 60 %. Here 1.35 and 2.06 (means of five placements).

**Connections.** Each takes CPU for health checks and memory for buffers at both of its ends (2.3). CHECK_CORES and
BUFFER_MB are such that Social Network with 512 containers on hosts without other tenants, fully connected instead of
with 4 connections per upstream container, uses 14.7 % more CPU and has a 95th percentile that is 35.1 % higher (2.3,
figure 3; the mean of three placements). Worked: 100 ends take 3.7 % of 0.1 cores, and 10.5 % of 200 MB, for which the
container stalls 10.5 % of its time. A stall uses no CPU; being slowed by other tenants does, for as long as it lasts.

What is not published and is ours: the form of the three laws, and weights and times of services (``presets``).
Figure 3's 64 containers, where fully connected gained 20.1 %, is no part of it, as no contention is stated there.
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EXPONENT = math.log(5.0) / math.log(2.5)
FULL = 0.97
"""A utilization above it counts as this: some is left to everyone."""

CHECK_CORES = 3.68e-5
BUFFER_MB = 0.21
"""Both by end of a connection."""
NOMINAL = 0.8
MOST_SHARE = 0.95
"""Checks, and stalls, take no more than this of a container."""


def slowdown(utilization: Floats, weights: Floats) -> Floats:
    """How many times as long work takes; ``utilization`` and ``weights`` of shape (..., 3), ratios 0..1."""
    left: Floats = np.prod((1.0 - np.clip(utilization, 0.0, FULL)) ** (EXPONENT * weights), axis=-1)
    return 1.0 / left


def checks(ends: Floats, cores: Floats) -> Floats:
    """Share of a container's CPU limit that its connections' health checks take; ``ends`` of connections it has."""
    return np.minimum(ends * CHECK_CORES / cores, MOST_SHARE)


def buffers(ends: Floats, memory_mb: Floats) -> Floats:
    """Share of a container's memory that its connections' buffers take, and of its time that it stalls for memory."""
    return np.minimum(ends * BUFFER_MB / memory_mb, MOST_SHARE)
