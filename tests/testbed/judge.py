"""Whose spans judge a pool."""

from .adjustable import AdjustablePool
from .spans import CLIENT, SERVER, SpanSite


def judges(pool: AdjustablePool, site: SpanSite) -> bool:
    """Whether spans of a site belong to those that judge a pool's goodput.

    They stand one level up, because a wait for the pool is invisible in its own spans: for a thread pool the
    callers' CLIENT spans towards the service, for a connection pool the SERVER spans of the service that holds it.
    """
    if pool.side == SERVER:
        return site.side == CLIENT and site.peer == pool.service
    return site.side == SERVER and site.service == pool.service


def owns(pool: AdjustablePool, site: SpanSite) -> bool:
    """Whether spans of a site are the pool's own: one for each slot in use."""
    return (site.service, site.side, site.peer) == (pool.service, pool.side, pool.peer)
