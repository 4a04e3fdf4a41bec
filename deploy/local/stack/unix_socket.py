"""XML-RPC over a Unix socket, which Python's library does not have."""

import http.client
import os
import socket
import xmlrpc.client
from pathlib import Path
from typing import Any


class Transport(xmlrpc.client.Transport):
    """To the socket called `name` in `directory`."""

    def __init__(self, directory: Path, name: str, timeout_s: float) -> None:
        super().__init__()
        self._made = _Connection(directory, name, timeout_s)

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        self._connection = host, self._made
        return self._made


class _Connection(http.client.HTTPConnection):
    """Named through the open directory: a socket's path may have 107 bytes, a directory's more."""

    def __init__(self, directory: Path, name: str, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._directory, self._name = directory, name

    def connect(self) -> None:
        descriptor = os.open(self._directory, os.O_PATH | os.O_DIRECTORY)
        try:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.settimeout(self.timeout)
            self.sock.connect(f"/proc/self/fd/{descriptor}/{self._name}")
        finally:
            os.close(descriptor)
