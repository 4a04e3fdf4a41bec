"""Joins records to complete traces, on disk.

A record of OTLP JSON is one batch of a collector. The spans of a trace are often in several records, and in several
files. A walk over a part of a trace would find false orphans. So `add` takes all records before `messages` gives the
first trace. Memory holds about 300 bytes a trace.
"""

import tempfile
from collections.abc import Iterator

from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from sluice.cli.traces.replay.trace import Trace


class TraceParts:
    """Append with `add`, then iterate with `messages`. Uses an unnamed file in the directory for temporary files."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="sluice-critical-path-")  # noqa: SIM115 (close() does it)
        self._where: dict[bytes, list[tuple[int, int]]] = {}
        self._size = 0

    def add(self, trace: Trace) -> None:
        data = TracesData(resource_spans=trace.resource_spans).SerializeToString()
        self._file.write(data)
        self._where.setdefault(_trace_id(trace), []).append((self._size, len(data)))
        self._size += len(data)

    def __len__(self) -> int:
        """The number of traces."""
        return len(self._where)

    def messages(self) -> Iterator[bytes]:
        """A serialized ExportTraceServiceRequest for each trace, in the order of the traces' first records."""
        for places in self._where.values():
            # Concatenated messages are one message with the elements of all (protobuf encoding, "last one wins").
            yield b"".join(self._read(offset, length) for offset, length in places)

    def _read(self, offset: int, length: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(length)

    def close(self) -> None:
        self._file.close()


def _trace_id(trace: Trace) -> bytes:
    for resource in trace.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                return span.trace_id
    raise ValueError("a trace has at least one span")
