"""Which copy of a repeated message the job read first: after a failure it may be another one than the first on the
topic, since the copies are in several partitions (docs/windows.md)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from sluice_kit.local_stack.driver import Stack
from sluice_kit.reference.counts import window
from sluice_kit.reference.spans import Position, Record, position, spans_of
from sluice_kit.reference.truth import TABLES, Reference, check_all

#: service, start of the window of record time in s
Place = tuple[str, int]


def read_first(records: Iterable[Record], repeated: Mapping[Place, int]) -> frozenset[Position]:
    """The copies that were read first though another one is before them; records in the order of the topic.

    repeated: spans that were counted as repeats. A message's first copy was read first, unless the counts of its
    other copies are not there.
    """
    copies: dict[bytes, list[Record]] = defaultdict(list)
    for record in records:
        if record.message:
            copies[record.message].append(record)
    left, first = Counter(repeated), set()
    for of_message in copies.values():
        for used in of_message if len(of_message) > 1 else []:
            others: Counter[Place] = sum((_places(copy) for copy in of_message if copy is not used), Counter())
            if others <= left:
                left -= others
                if used is not of_message[0]:
                    first.add(position(used))
                break
    return frozenset(first)


def _places(record: Record) -> Counter[Place]:
    return Counter((span.service, window(record.received_ms)) for span in spans_of(record) or [])


def check_whichever_copy(stack: Stack, prefix: str, reference: Reference) -> None:
    """As check_all of the tables; where it fails, with those copies first that the tables' counts name."""
    try:
        check_all(stack, prefix, reference, TABLES)
    except AssertionError:
        query = (
            "SELECT service, toUnixTimestamp(received) AS window, spans FROM ingest_counts FINAL"
            f" WHERE job = 'concurrency' AND outcome = 'repeated_message' AND startsWith(service, '{prefix}')"
        )
        repeated = {(row["service"], row["window"]): row["spans"] for row in stack.rows(query)}
        first = read_first(reference.records, repeated)
        if not first:
            raise
        check_all(stack, prefix, Reference(reference.records, first), TABLES)
