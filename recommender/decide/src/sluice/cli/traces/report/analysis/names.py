"""Numbers for names, so that compiled loops can compare them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sluice.cli.traces.report.facts.facts import CLIENT, PRODUCER
from sluice.cli.traces.report.reading.columns import Spans

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass
class Names:
    """Numbers names in order of first use; "" is 0."""

    texts: list[str] = field(default_factory=lambda: [""])
    _numbers: dict[str, int] = field(default_factory=lambda: {"": 0})

    def number(self, text: str) -> int:
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def numbers(self, texts: Iterable[str]) -> Ints:
        return np.array([self.number(text) for text in texts], dtype=np.int64)


@dataclass(frozen=True)
class Labels:
    """By span: numbers of names, 0 for none. named_peer: what its attributes name, else what they locate. explicit: its
    attributes name the peer outright."""

    names: Names
    service: Ints
    instance: Ints
    host: Ints
    operation: Ints
    named_peer: Ints
    kind: Ints
    use: Ints
    error: Bools
    explicit: Bools


def labels_of(spans: Spans) -> Labels:
    """Looks each name up once a kind of span, not once a span."""
    names, facts, which = Names(), spans.facts_of, spans.facts
    peers = [fact.peer or fact.address if fact.kind in (CLIENT, PRODUCER) else "" for fact in facts]
    return Labels(
        names,
        service=names.numbers(fact.service for fact in facts)[which],
        instance=names.numbers(fact.instance for fact in facts)[which],
        host=names.numbers(fact.host for fact in facts)[which],
        operation=names.numbers(fact.operation for fact in facts)[which],
        named_peer=names.numbers(peers)[which],
        kind=np.array([fact.kind for fact in facts], dtype=np.int64)[which],
        use=np.array([fact.use for fact in facts], dtype=np.int64)[which],
        error=np.array([fact.error for fact in facts], dtype=np.bool_)[which],
        explicit=np.array([bool(fact.peer) for fact in facts], dtype=np.bool_)[which],
    )
