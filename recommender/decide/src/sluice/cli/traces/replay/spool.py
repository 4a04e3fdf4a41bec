"""Stores traces on disk until they are due.

A file has its traces in any order, but the replay sends them in the order of their ends. It can move times to now only
when it knows the earliest start. So it reads all traces once; memory holds 24 bytes a trace.
"""

import tempfile
from array import array
from collections.abc import Iterator

import numpy as np
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from sluice.cli.traces.replay.trace import Trace, measure


class Spool:
    """Append with `add`, then iterate with `by_end`. Uses an unnamed file in the directory for temporary files."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="sluice-replay-")  # noqa: SIM115 (close() does it)
        self._end_ns = array("Q")
        self._offset = array("Q")
        self._length = array("Q")
        self._size = 0
        self.first_start_ns: int | None = None
        self.spans = 0

    def add(self, trace: Trace) -> None:
        data = TracesData(resource_spans=trace.resource_spans).SerializeToString()
        self._file.write(data)
        self._end_ns.append(trace.end_ns)
        self._offset.append(self._size)
        self._length.append(len(data))
        self._size += len(data)
        self.spans += trace.spans
        if self.first_start_ns is None or trace.start_ns < self.first_start_ns:
            self.first_start_ns = trace.start_ns

    def __len__(self) -> int:
        return len(self._end_ns)

    @property
    def last_end_ns(self) -> int:
        return max(self._end_ns, default=0)

    @property
    def span_of_time_s(self) -> float:
        """Seconds from the first start to the last end."""
        return (self.last_end_ns - (self.first_start_ns or 0)) / 1e9

    def by_end(self) -> Iterator[Trace]:
        """Traces in order of their latest span end. Traces with the same end keep the order of `add`."""
        for index in np.argsort(np.frombuffer(self._end_ns, dtype=np.uint64), kind="stable"):
            self._file.seek(self._offset[index])
            data = TracesData.FromString(self._file.read(self._length[index]))
            yield measure(tuple(data.resource_spans))

    def close(self) -> None:
        self._file.close()
