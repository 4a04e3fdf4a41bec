"""A network namespace of its own: a service has containers at addresses of its loopback, and somebody connects.

Run as a program, it is what is inside: it reads `ADDRESS N` from its input, connects N times there, one after another,
and prints who answered how often, as JSON; {} where nobody does.
"""

from __future__ import annotations

import fcntl
import json
import socket
import struct
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


@contextmanager
def namespace(containers: Sequence[str]) -> Iterator[tuple[Path, Callable[[str, int], dict[str, int]]]]:
    """Its path, and what connects within. containers: HOST:PORT each, of 127.0.0.0/8. Needs root."""
    command = ["unshare", "--net", sys.executable, __file__, *containers]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None

    def connect(address: str, times: int) -> dict[str, int]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{address} {times}\n")
        process.stdin.flush()
        counts: dict[str, int] = json.loads(process.stdout.readline())
        return counts

    try:
        assert process.stdout.readline() == "ready\n"
        yield Path(f"/proc/{process.pid}/ns/net"), connect
    finally:
        process.kill()
        process.wait()


def _split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        (flags,) = struct.unpack("16xH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def _serve(address: str) -> None:
    """Says its address to whoever connects."""
    with socket.create_server(_split(address)) as server:
        while True:
            connection, _ = server.accept()
            with connection:
                connection.sendall(address.encode())


def _reached(address: str) -> str | None:
    try:
        with socket.create_connection(_split(address), timeout=10) as connection:
            return connection.recv(100).decode()
    except ConnectionRefusedError:
        return None


def _inside(containers: Sequence[str]) -> None:
    _loopback_up()
    for address in containers:
        threading.Thread(target=_serve, args=(address,), daemon=True).start()
    while any(_reached(address) != address for address in containers):
        pass
    print("ready", flush=True)
    for line in sys.stdin:
        address, times = line.split()
        counts = Counter(who for who in (_reached(address) for _ in range(int(times))) if who is not None)
        print(json.dumps(counts), flush=True)


if __name__ == "__main__":
    _inside(sys.argv[1:])
