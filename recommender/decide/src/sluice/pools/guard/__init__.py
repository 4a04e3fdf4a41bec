"""What stands between an estimate and an answer: hold without an estimate, and a chain of rules for every size."""

from sluice.pools.guard.chain import Guarded, guard
from sluice.pools.guard.hold import propose
from sluice.pools.guard.situation import LastGood

__all__ = ["Guarded", "LastGood", "guard", "propose"]
