"""What every test of bad input ends with: the job was not disturbed, and good spans that follow count exactly."""

import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from integration import random_traces
from support.messages import PARTITIONS, message, produce
from support.running_job import undisturbed
from support.stack import Stack
from support.topics import end_offsets
from support.truth import TABLES, Reference, Table, check, records_since

SECOND = 1_000_000_000
#: Tables that need not wait until traces are closed.
AT_ONCE = tuple(table for table in TABLES if table.name == "windows")


@contextmanager
def good_data_counts(stack: Stack, name: str, tables: tuple[Table, ...] = AT_ONCE) -> Iterator[None]:
    """Around bad input: the job goes on, and what is sent afterwards is in `tables`, to the last bucket."""
    with undisturbed(stack):
        yield
        prefix = f"after-{zlib.crc32(name.encode()):08x}-"
        traces = random_traces.placed(random_traces.batch(20), prefix, time.time_ns() - 60 * SECOND)
        start = end_offsets(stack, "otlp_spans")
        produce(stack.address["SLUICE_KAFKA"], [(message(trace), n % PARTITIONS) for n, trace in enumerate(traces)])
        reference = Reference(records_since(stack, start))
        for table in tables:
            check(stack, table, prefix, reference)
