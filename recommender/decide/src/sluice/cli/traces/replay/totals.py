"""Counts of a replay."""

from dataclasses import dataclass, field
from typing import Any

_REASONS_KEPT = 20


@dataclass
class Totals:
    """`spans_sent`: spans in requests with a successful answer. It includes `spans_rejected`, which the collector then
    refused (partial success)."""

    files: int = 0
    traces_read: int = 0
    spans_read: int = 0
    traces: int = 0
    spans_sent: int = 0
    spans_rejected: int = 0
    spans_failed: int = 0
    requests: int = 0
    requests_failed: int = 0
    retries: int = 0
    records_skipped: int = 0
    elapsed_s: float = 0.0
    skipped: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    @property
    def spans_per_s(self) -> float | None:
        return self.spans_sent / self.elapsed_s if self.elapsed_s > 0 and self.spans_sent else None

    def note_skipped(self, text: str) -> None:
        """Counts a skipped record; keeps the first few reasons."""
        self.records_skipped += 1
        if len(self.skipped) < _REASONS_KEPT:
            self.skipped.append(text)

    def note_refusal(self, text: str) -> None:
        if len(self.refusals) < _REASONS_KEPT and text not in self.refusals:
            self.refusals.append(text)

    def as_json(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        rate = self.spans_per_s
        return values | {
            "elapsed_s": round(self.elapsed_s, 3),
            "spans_per_s": None if rate is None else round(rate, 1),
        }
