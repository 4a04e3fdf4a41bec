"""Ports: who holds one that is taken."""

import os
import socket

from stack.ports import Taken, command_of, listeners, taken

# /proc/net/tcp: 9092 = 0x2384 listens (0A); 8081 = 0x1F91 is the local end of a connection (01).
TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2384 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12345 1 0 100 0 0 10 0
   1: 0100007F:1F91 0100007F:A0A0 01 00000000:00000000 00:00000000 00000000     0        0 54321 1 0 20 4 30 10 -1
"""


def test_only_listening_sockets_count() -> None:
    assert listeners(TABLE) == {9092: "12345"}


def test_a_taken_port_is_named_with_its_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        (found,) = taken({"kafka": port}, "127.0.0.1")
    assert (found.name, found.port, found.pid) == ("kafka", port, os.getpid())
    assert str(found) == f"kafka {port} is taken by process {os.getpid()} ({command_of(os.getpid())})"


def test_a_free_port_is_not_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert taken({"kafka": port}, "127.0.0.1") == []


def test_an_owner_that_may_not_be_seen_is_said_to_be_anothers() -> None:
    assert str(Taken("kafka", 9092, None, "")) == "kafka 9092 is taken by a process of another user"
