"""What a command on a pool prints where the recommender has no such pool: pure."""

from collections.abc import Sequence

from sluice.cli.pools.selector import pool_name
from sluice.pools.v1.candidate_pb2 import FOUND_BY_UNSPECIFIED, Candidate
from sluice.pools.v1.pool_pb2 import SIDE_CONSUMER, Pool
from sluice.pools.v1.pool_size_pb2 import PoolSize

_SHOWN = 10
_BY_NAME = "name it under `pools` in the decider's file, and run ./sluice reload"


def why_no_pool(pool: Pool, candidates: Sequence[Candidate], sizes: Sequence[PoolSize]) -> str:
    """Why `pool` is none, and the remedy. candidates: of its service. sizes: of all pools."""
    name, service = pool_name(pool), pool.service
    own = next((one for one in candidates if one.pool == pool and one.found_by == FOUND_BY_UNSPECIFIED), None)
    if own is not None:
        return (
            f"{name} is a candidate, and no pool: {own.why}. {_remedy(own)}. "
            "./sluice pools discover lists all candidates, and why each one is a pool or none."
        )
    others = _names([one.pool for one in candidates])
    shown = f"Spans of {service} show {others}." if others else f"Spans show nothing of a service {service!r}."
    pools = _names([size.pool for size in sizes])
    existing = f"Pools that exist: {pools}." if pools else "The recommender has no pool."
    return (
        f"no such pool: {name}. Neither the configuration nor spans have it. {shown} {existing} "
        "./sluice pools discover lists all candidates."
    )


def _remedy(one: Candidate) -> str:
    """What makes a pool of a candidate. With a size, or without its peer's name, `why` has what it lacks."""
    if one.size_from != FOUND_BY_UNSPECIFIED or one.pool.peer in ("unknown", "(more)"):
        return f"To make it a pool all the same, {_BY_NAME}"
    load = "" if one.pool.side == SIDE_CONSUMER else ", or its callers' traces show a limit"
    return f"It becomes a pool once an actuator or a metric has its size{load}; or {_BY_NAME}"


def _names(pools: Sequence[Pool]) -> str:
    """At most _SHOWN names, and the number of further ones."""
    names = ", ".join(pool_name(pool) for pool in pools[:_SHOWN])
    return f"{names} and {len(pools) - _SHOWN} more" if len(pools) > _SHOWN else names
