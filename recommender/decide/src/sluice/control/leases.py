"""Until when answers may be applied, as heartbeats said."""

from __future__ import annotations

from collections.abc import Collection

from sluice.control.commit import Heartbeat
from sluice.model.keys import PoolKey
from sluice.model.times import timestamp
from sluice.pools.names import key_of, message_of
from sluice.pools.v1.log_pb2 import NotRenewed, ShardHeartbeat


class Leases:
    """Counted from when a period began, which is earlier than servers count: from the time of its record."""

    def __init__(self, newest: ShardHeartbeat | None) -> None:
        """newest: of the decider before."""
        self._until_ms = 0
        self._own_ms: dict[PoolKey, int] = {}
        if newest is not None:
            self._until_ms = newest.computed_at.ToMilliseconds() + newest.lease.ToMilliseconds()
            self._own_ms = {key_of(each.pool): each.valid_until.ToMilliseconds() for each in newest.not_renewed}

    @property
    def until_ms(self) -> int:
        """Of all but those that were named; 0 before the first."""
        return self._until_ms

    def of(self, not_renewed: Collection[PoolKey]) -> list[NotRenewed]:
        """What the next heartbeat says of those that it does not confirm."""
        return [NotRenewed(pool=message_of(key), valid_until=timestamp(self._of(key))) for key in sorted(not_renewed)]

    def renewed(self, beat: Heartbeat, but: Collection[PoolKey]) -> None:
        """It was committed."""
        self._own_ms = {key: self._of(key) for key in but}
        self._until_ms = beat.computed_at_ms + beat.lease_ms

    def _of(self, key: PoolKey) -> int:
        return self._own_ms.get(key, self._until_ms)
