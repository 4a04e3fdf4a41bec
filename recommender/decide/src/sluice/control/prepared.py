"""What each process that decides needs, made once by the server that they are forked from, and shared by all.

To load this module is what does it (`set_forkserver_preload`): compiled loops, shapes and libraries are 200 MB, of
which each process would else have its own.
"""

from __future__ import annotations

import gc
import logging

from sluice.control.garbage import search_rarely
from sluice.pools.policy.prepare import prepare

log = logging.getLogger(__name__)

try:
    import scipy.special  # noqa: F401

    prepare()
except Exception as cause:
    # Each process then does it for itself, and tells what is wrong as it has always told.
    log.error("prepare before processes start failed, going on: %s: %s", type(cause).__name__, cause)
search_rarely()
# What is there now is not looked at again: a page that is not written to stays shared.
gc.collect()
gc.freeze()
