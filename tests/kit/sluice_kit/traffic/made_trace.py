"""A trace span by span, as traffic of these tests sends it."""

import random

from sluice_kit.traffic.messages import SentSpan

MS = 1_000_000


class MadeTrace:
    """A trace that ends about then and is some 5 to 400 ms long; times within it count in `parts` of that.

    spans: those that it has so far.
    """

    def __init__(self, rng: random.Random, end_ns: int, parts: int) -> None:
        self._rng = rng
        self._trace_id = rng.getrandbits(128).to_bytes(16, "big")
        length = rng.randrange(5 * MS, 400 * MS)
        self._step = length // parts
        self._start_ns = end_ns - length
        self.spans: list[SentSpan] = []

    def span(
        self, service: str, kind: str, first: int, last: int, parent: bytes = b"", rows: int = -1, **attributes: str
    ) -> bytes:
        """Adds a span of [first, last] parts and returns its id. `_` in names of attributes stands for a dot. rows:
        that a database returned; -1 says none."""
        self.spans.append(
            SentSpan(
                service=service,
                instance=f"{service}-{self._trace_id[0] % 3}",
                trace_id=self._trace_id,
                span_id=self._rng.getrandbits(64).to_bytes(8, "big"),
                parent_id=parent,
                kind=kind,
                start_ns=self._start_ns + first * self._step,
                end_ns=self._start_ns + last * self._step + self._rng.randrange(self._step),
                error=self._rng.random() < 0.05,
                attributes=tuple((name.replace("_", "."), value) for name, value in attributes.items()),
                sizes=(("db.response.returned_rows", rows),) if rows >= 0 else (),
            )
        )
        return self.spans[-1].span_id
