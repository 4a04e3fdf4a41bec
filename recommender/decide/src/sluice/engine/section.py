"""The engine's section of the configuration: periods, leases, and the groups that shards are made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from sluice.document import Strict
from sluice.model.durations import Milliseconds, format_ms


class EngineSection(Strict):
    """The engine's part of the file.

    period  from one decision to the next; longer where the number of pools makes a period take longer
    lease   how long an actuator may apply a decision after the period that computed it
    groups  of pools, each with one decider; the first is shard 0 of the journal, and so on
    generation  grows with each change of a file that several deciders read: a decider with an older one takes no shard
    """

    period: Milliseconds = Field(default=1_000.0, ge=1_000, le=600_000)
    lease: Milliseconds = Field(default=30_000.0, ge=1_000, le=86_400_000)
    groups: list[Annotated[str, Field(min_length=1)]] = Field(default=["default"], min_length=1, max_length=256)
    generation: int = Field(default=0, ge=0, le=2**63 - 1)

    @model_validator(mode="after")
    def _lease_outlives_period(self) -> EngineSection:
        if self.lease < self.period:
            raise ValueError(
                f"lease {format_ms(self.lease)} is under period {format_ms(self.period)}; legal: lease >= period"
            )
        return self
