"""`container_latency`: how long the requests of each container took, per 10 s of their ends."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import floor, log

from contract.make_latency_index import exact_index
from support.reference.spans import MS, Span

WINDOW_NS = 10_000 * MS
#: Logarithms are summed as whole numbers of this part: such sums do not depend on their order.
PARTS = 1_000_000_000

#: service, instance, host, start of the window in s
Key = tuple[str, str, str, int]


@dataclass
class Sample:
    """`ln_sum` and `ln_sum2`: of ln(duration in ns) and of its square, each rounded to 1e-9 before it is added.

    Logarithms of two libraries may differ in the last bit: a request may then be 1 apart in each.
    """

    requests: int = 0
    errors: int = 0
    ln_sum: int = 0
    ln_sum2: int = 0
    latency: Counter[int] = field(default_factory=Counter)


def samples(spans: Iterable[Span]) -> dict[Key, Sample]:
    table: dict[Key, Sample] = {}
    for span in spans:
        if span.kind not in ("SERVER", "CONSUMER"):
            continue
        key = (span.service, span.instance, span.host, span.end_ns // WINDOW_NS * 10)
        row = table.setdefault(key, Sample())
        ln = log(max(span.duration_ns, 1))
        row.requests += 1
        row.errors += span.error
        row.ln_sum += floor(ln * PARTS + 0.5)
        row.ln_sum2 += floor(ln * ln * PARTS + 0.5)
        row.latency[exact_index(span.duration_ns)] += 1
    return table
