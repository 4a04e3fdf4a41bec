"""Prepares the deciding processes once, in the fork server, which shares the result with them.

The import of this module prepares them (`set_forkserver_preload`): compiled loops, shapes and libraries take 200 MB,
which each process would otherwise have for itself.
"""

from __future__ import annotations

import gc
import logging

from sluice.fast.garbage import search_rarely
from sluice.pools.policy.prepare import prepare

log = logging.getLogger(__name__)

try:
    import scipy.special  # noqa: F401

    prepare()
except Exception as cause:
    # Each process then prepares itself, and reports the error.
    log.error("prepare before processes start failed, going on: %s: %s", type(cause).__name__, cause)
search_rarely()
# The collector ignores present objects from here on: pages without writes stay shared.
gc.collect()
gc.freeze()
