"""Which copy of a repeated message the job read first: after a failure it may be another one than the first on the
topic, since the copies are in several partitions (docs/windows.md)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice, product

from sluice_kit.local_stack.driver import Stack
from sluice_kit.reference.counts import counts, window
from sluice_kit.reference.spans import Position, Record, position, spans_of
from sluice_kit.reference.truth import TABLES, Reference, check_all

#: service, start of the window of record time in s
Place = tuple[str, int]
#: Combinations of copies of a window that are tried.
MOST_TRIED = 100_000


def read_first(records: Iterable[Record], repeated: Mapping[Place, int]) -> frozenset[Position]:
    """The copies that were read first though another one is before them; records in the order of the topic.

    repeated: spans that were counted as repeats. A message's first copy was read first, unless the counts of its
    other copies are not there.
    """
    left, first = Counter(repeated), set()
    for of_message in _repeated(records):
        for used in of_message:
            others: Counter[Place] = sum((_places(copy) for copy in of_message if copy is not used), Counter())
            if others <= left:
                left -= others
                if used is not of_message[0]:
                    first.add(position(used))
                break
    return frozenset(first)


def with_lags(records: Iterable[Record], first: frozenset[Position], lags: Mapping[Place, int]) -> frozenset[Position]:
    """`first`, with those copies of the same window in place of others that make up for `lags`: by how much the tables'
    sums of (record time - end of the span) are larger. Counts do not tell such copies apart.

    Worked: 10 spans were read 71 ms later: their copy adds 710 ms.
    """
    earliest: dict[int, list[Record]] = defaultdict(list)
    choices: dict[int, list[list[Record]]] = defaultdict(list)
    for of_message in _repeated(records):
        used = next((copy for copy in of_message if position(copy) in first), of_message[0])
        at = window(used.received_ms)
        others = [copy for copy in of_message if copy is not used and window(copy.received_ms) == at]
        if others:
            earliest[at].append(of_message[0])
            choices[at].append([used, *others])
    for at, messages in choices.items():
        wanted = Counter({service: ms for (service, of), ms in lags.items() if of == at and ms})
        for chosen in islice(product(*messages), MOST_TRIED):
            later: Counter[str] = Counter()
            for copy, (used, *_) in zip(chosen, messages, strict=True):
                for span in spans_of(copy) or []:
                    later[span.service] += copy.received_ms - used.received_ms
            if later == wanted:
                first -= {position(used) for used, *_ in messages}
                pairs = zip(chosen, earliest[at], strict=True)
                first |= {position(copy) for copy, before in pairs if copy is not before}
                break
    return first


def _repeated(records: Iterable[Record]) -> list[list[Record]]:
    """The copies of each message that is there more than once."""
    copies: dict[bytes, list[Record]] = defaultdict(list)
    for record in records:
        if record.message:
            copies[record.message].append(record)
    return [of_message for of_message in copies.values() if len(of_message) > 1]


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
        first = with_lags(reference.records, first, _lags(stack, prefix, Reference(reference.records, first)))
        if not first:
            raise
        check_all(stack, prefix, Reference(reference.records, first), TABLES)


def _lags(stack: Stack, prefix: str, reference: Reference) -> dict[Place, int]:
    """By how much the table's sums of delays of accepted spans are larger than the reference's, ms."""
    query = (
        "SELECT service, toUnixTimestamp(received) AS window, sum(emit_lag_ms) AS lag_ms FROM ingest_counts FINAL"
        f" WHERE job = 'concurrency' AND startsWith(service, '{prefix}') GROUP BY service, window"
    )
    lags: Counter[Place] = Counter({(row["service"], row["window"]): row["lag_ms"] for row in stack.rows(query)})
    for (_, _, service, at), count in counts("concurrency", reference.read, ()).items():
        lags[service, at] -= count.emit_lag_ms
    return dict(lags)
