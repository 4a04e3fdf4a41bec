"""What stands between an estimate and an answer: hold without an estimate, and a chain of rules for every size."""

from sluice.guard.chain import Guarded, guard
from sluice.guard.hold import propose
from sluice.guard.situation import LastGood

__all__ = ["Guarded", "LastGood", "guard", "propose"]
