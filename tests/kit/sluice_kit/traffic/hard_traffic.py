"""Steady traffic past the collector that is hard to take exactly: traces are spread over messages, spans repeated."""

import heapq
import random
import threading
import time
from itertools import count, pairwise

from confluent_kafka import Producer

from sluice_kit.reference.settings import setting
from sluice_kit.traffic.made_trace import MadeTrace
from sluice_kit.traffic.messages import PARTITIONS, TOPIC, SentSpan, message

MS = 1_000_000
PERIOD_S = 0.1
QUIET_S = setting("trace-quiet-ms") / 1000
#: Shares: of pieces that come after their trace was closed, of spans that come again in another message, of messages
#: that come again as they are, to the same partition (of two partitions the copy that is read first counts).
LATE, AGAIN, RESENT = 0.03, 0.1, 0.05


def trace(rng: random.Random, prefix: str, end_ns: int) -> list[SentSpan]:
    """Nine spans of four services. Only their parents tell who calls whom; what the last one calls has an address."""
    edge, orders, stock, mail = (f"{prefix}{name}" for name in ("edge", "orders", "stock", "mail"))
    made = MadeTrace(rng, end_ns, parts=32)
    root = made.span(edge, "SERVER", 0, 31)
    served = made.span(orders, "SERVER", 3, 20, made.span(edge, "CLIENT", 2, 22, root))
    made.span(orders, "INTERNAL", 4, 6, served)
    taken = made.span(stock, "SERVER", 9, 16, made.span(orders, "CLIENT", 8, 18, served))
    made.span(stock, "CLIENT", 11, 14, taken, rows=rng.randrange(50), server_address=f"{prefix}db")
    made.span(mail, "CONSUMER", 25, 29, made.span(edge, "PRODUCER", 23, 25, root))
    return made.spans


class HardTraffic:
    """Sends `traces_per_s`, from the begin of a `with` block until `stop`, or until its end.

    The spans of a trace come in two to four pieces, in any order, each in a message with pieces of others, over all
    partitions and some seconds. sent: ids of the spans.
    """

    def __init__(self, kafka: str, prefix: str, traces_per_s: int, seed: int) -> None:
        self.sent: set[bytes] = set()
        self.failed: list[str] = []
        self._prefix = prefix
        self._traces = round(traces_per_s * PERIOD_S)
        self._rng = random.Random(seed)
        # Due in which period, then in the order of being entered: a piece, or a message and its partition.
        self._pieces: list[tuple[int, int, list[SentSpan]]] = []
        self._messages: list[tuple[int, int, bytes, int]] = []
        self._number = count()
        # Kafka may be away for a minute: nothing is given up meanwhile.
        self._producer = Producer(
            {"bootstrap.servers": kafka, "acks": "all", "enable.idempotence": True, "compression.type": "lz4"}
        )
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "HardTraffic":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopping.set()

    def stop(self, within_s: float = 60.0) -> None:
        """Sends what is still to come, and waits until all is acknowledged. Raises AssertionError when it is not."""
        self._stopping.set()
        self._thread.join(within_s)
        assert not self._thread.is_alive()
        assert self._producer.flush(within_s) == 0, "messages were not acknowledged in time"
        assert not self.failed, self.failed[:3]

    def _run(self) -> None:
        due = time.monotonic()
        for period in count():
            if self._stopping.is_set():
                break
            self._make(period)
            self._send(period)
            due += PERIOD_S
            self._stopping.wait(max(0.0, due - time.monotonic()))
        while self._pieces or self._messages:
            period += 1
            self._send(period)

    def _make(self, period: int) -> None:
        rng, now = self._rng, time.time_ns()
        for _ in range(self._traces):
            spans = trace(rng, self._prefix, now - rng.randrange(round(PERIOD_S * 1000) * MS))
            self.sent.update(span.span_id for span in spans)
            rng.shuffle(spans)
            cuts = [0, *sorted(rng.sample(range(1, len(spans)), rng.randint(1, 3))), len(spans)]
            for begin, end in pairwise(cuts):
                self._later(period, spans[begin:end])
            self._later(period, [span for span in spans if rng.random() < AGAIN])

    def _later(self, period: int, piece: list[SentSpan]) -> None:
        if piece:
            seconds = self._rng.uniform(0, 0.6 * QUIET_S)
            if self._rng.random() < LATE:
                seconds += self._rng.uniform(0.8, 2) * QUIET_S
            heapq.heappush(self._pieces, (period + round(seconds / PERIOD_S), next(self._number), piece))

    def _send(self, period: int) -> None:
        batches: list[list[SentSpan]] = [[] for _ in range(PARTITIONS)]
        while self._pieces and self._pieces[0][0] <= period:
            self._rng.choice(batches).extend(heapq.heappop(self._pieces)[2])
        for partition, batch in enumerate(batches):
            if batch:
                value = message(batch)
                self._put(value, partition)
                if self._rng.random() < RESENT:
                    again = period + self._rng.choice([0, 1, 30])
                    heapq.heappush(self._messages, (again, next(self._number), value, partition))
        while self._messages and self._messages[0][0] <= period:
            _, _, value, partition = heapq.heappop(self._messages)
            self._put(value, partition)
        self._producer.poll(0)

    def _put(self, value: bytes, partition: int) -> None:
        self._producer.produce(
            TOPIC,
            value,
            partition=partition,
            on_delivery=lambda error, _: self.failed.append(str(error)) if error else None,
        )
