"""Batches of records that no producer would make: compressed piece by piece, so that they may expand to any size.

By hand: Kafka's message format, version 2, and the request that produces one batch (Produce, version 7, the first that
takes zstd).
"""

import socket
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence

from support.wire import varint

#: Bytes as they are, or so many zeros.
Piece = bytes | int
CODECS = {"gzip": 1, "lz4": 3, "zstd": 4}


def record(value: Sequence[Piece], number: int) -> list[Piece]:
    """The record with this value and without key or headers that stands at `number` in its batch."""
    length = size_of(value)
    head = b"\x00\x00" + _zigzag(number) + _zigzag(-1) + _zigzag(length)
    return [_zigzag(len(head) + length + 1) + head, *value, b"\x00"]


def batch(records: Sequence[list[Piece]], codec: str) -> bytes:
    """A batch of what `record` made."""
    pieces = [piece for each in records for piece in each]
    packed = b"".join({"gzip": _gzip, "lz4": _lz4, "zstd": _zstd}[codec](pieces))
    last = len(records) - 1
    body = struct.pack(">hiqqqhii", CODECS[codec], last, 0, 0, -1, -1, -1, len(records)) + packed
    rest = struct.pack(">ibI", 0, 2, _crc32c(body)) + body
    return struct.pack(">qi", 0, len(rest)) + rest


def produce_batch(kafka: str, topic: str, partition: int, records: bytes) -> int:
    """Sends the batch; the offset of its first record. Raises AssertionError when the broker refuses it."""
    request = struct.pack(">hhih", 0, 7, 1, -1)  # Produce, its version, a correlation id, no client id
    request += struct.pack(">hhii", -1, -1, 30_000, 1)  # no transaction, all replicas, ms, one topic
    request += struct.pack(">h", len(topic)) + topic.encode() + struct.pack(">iii", 1, partition, len(records))
    host, port = kafka.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(struct.pack(">i", len(request) + len(records)) + request + records)
        with connection.makefile("rb") as stream:
            (length,) = struct.unpack(">i", stream.read(4))
            answer = stream.read(length)
    at = 4 + 4 + 2 + len(topic) + 4 + 4  # correlation id, topics, name, partitions, number of the partition
    error, offset = struct.unpack_from(">hq", answer, at)
    assert error == 0, f"the broker refuses the batch with error code {error}"
    return int(offset)


def size_of(pieces: Iterable[Piece]) -> int:
    """Bytes once expanded."""
    return sum(piece if isinstance(piece, int) else len(piece) for piece in pieces)


def _zigzag(number: int) -> bytes:
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


def _gzip(pieces: Iterable[Piece]) -> Iterator[bytes]:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1 << 20)
    for piece in pieces:
        for chunk in _chunks(piece, len(zeros)):
            yield packer.compress(zeros[:chunk] if isinstance(chunk, int) else chunk)
    yield packer.flush()


def _lz4(pieces: Iterable[Piece]) -> Iterator[bytes]:
    """A frame of independent blocks of at most 4 MiB, without checksums but its header's."""
    yield bytes.fromhex("04224d18607073")
    for piece in pieces:
        for chunk in _chunks(piece, 4 << 20):
            block = _lz4_zeros(chunk) if isinstance(chunk, int) and chunk >= 64 else None
            if block:
                yield struct.pack("<I", len(block)) + block
            else:
                yield struct.pack("<I", 1 << 31 | size_of([chunk])) + (
                    bytes(chunk) if isinstance(chunk, int) else chunk
                )
    yield bytes(4)


def _lz4_zeros(count: int) -> bytes:
    """One literal, itself again and again, and the five literals that a block ends with."""
    rest = count - 1 - 5 - 4 - 15
    return b"\x1f\x00\x01\x00" + b"\xff" * (rest // 255) + bytes([rest % 255]) + b"\x50" + bytes(5)


def _zstd(pieces: Iterable[Piece]) -> Iterator[bytes]:
    """A frame with a window of 128 KiB: raw blocks, and one byte that is repeated for each block of zeros."""
    yield bytes.fromhex("28b52ffd0038")
    for piece in pieces:
        for chunk in _chunks(piece, 1 << 17):
            repeated = isinstance(chunk, int)
            header = size_of([chunk]) << 3 | (2 if repeated else 0)
            yield header.to_bytes(3, "little") + (b"\x00" if isinstance(chunk, int) else chunk)
    yield (1).to_bytes(3, "little")


def _chunks(piece: Piece, most: int) -> Iterator[Piece]:
    for start in range(0, size_of([piece]), most):
        yield min(most, piece - start) if isinstance(piece, int) else piece[start : start + most]


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_CRC = _crc_table()


def _crc32c(data: bytes) -> int:
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ _CRC[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF
