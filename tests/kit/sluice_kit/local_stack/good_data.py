"""What follows bad input: the job was not disturbed, and good spans that come after each test count exactly."""

import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.running_job import undisturbed
from sluice_kit.local_stack.topics import end_offsets
from sluice_kit.reference.truth import TABLES, Awaited, Reference, records_since, summary
from sluice_kit.traffic import random_traces
from sluice_kit.traffic.messages import PARTITIONS, message, produce
from sluice_kit.waiting import settled

SECOND = 1_000_000_000


class GoodData:
    """Whole traces after each test of a module; at its end they are looked for in every table, all at once."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._sent: list[tuple[str, str, Reference]] = []

    @contextmanager
    def follows(self, name: str) -> Iterator[None]:
        """Around the test `name`: the job goes on, and good traces follow."""
        with undisturbed(self._stack):
            yield
        prefix = f"after-{zlib.crc32(name.encode()):08x}-"
        traces = random_traces.placed(random_traces.batch(20), prefix, time.time_ns() - 60 * SECOND)
        start = end_offsets(self._stack, "otlp_spans")
        sent = [(message(trace), n % PARTITIONS) for n, trace in enumerate(traces)]
        produce(self._stack.address["SLUICE_KAFKA"], sent)
        self._sent.append((name, prefix, Reference(records_since(self._stack, start))))

    def counts(self) -> None:
        """Fails unless every table holds it to the last bucket; names the tests after which it does not."""
        with undisturbed(self._stack):
            probes = {
                (name, table): Awaited(self._stack, table, prefix, table.expected(reference))
                for name, prefix, reference in self._sent
                for table in TABLES
            }
            assert probes, "no test was followed by good data"
            differences = settled(probes)
            wrong = [
                f"after {name}: " + summary(table, differences[name, table])
                for name, table in probes
                if differences[name, table]
            ]
            assert not wrong, "\n".join(wrong)
