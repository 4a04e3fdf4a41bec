"""Ports: who holds one that is taken."""

import os
import socket

from stack.ports import Taken, command_of, sockets, taken, taken_for_long

# /proc/net/tcp: 9092 = 0x2384 listens (0A), and has the end of a connection to it (06); 50052 = 0xC384 is the client's
# end of one that ended, 8081 = 0x1F91 of one that is open (01).
TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2384 0100007F:A0A0 06 00000000:00000000 03:00000100 00000000     0        0 0 3 0
   1: 0100007F:2384 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12345 1 0 100 0 0 10 0
   2: 0100007F:C384 0100007F:2384 06 00000000:00000000 03:00000100 00000000     0        0 0 3 0
"""
TABLE_6 = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:C384 0100007F:2384 06 00000000:00000000 03:00000100 00000000     0        0 0 3 0
   1: 0100007F:1F91 0100007F:A0A0 01 00000000:00000000 00:00000000 00000000     0        0 54321 1 0 20 4 30 10 -1
"""


def test_what_listens_has_a_port_before_any_connection() -> None:
    assert sockets(TABLE, TABLE_6) == {9092: ("0A", "12345"), 50052: ("06", "0"), 8081: ("01", "54321")}


def test_the_port_of_a_connection_that_goes_out_is_named_with_its_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        port = client.getsockname()[1]
        (found,) = taken({"decider": port}, "127.0.0.1")
        by = f"a connection of process {os.getpid()} ({command_of(os.getpid())})"
        assert (str(found), found.ended) == (f"decider {port} is taken by {by}", False)


def test_the_port_of_a_connection_that_ended_is_said_to_be_free_soon() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        port = client.getsockname()[1]
        client.close()
        assert accepted.recv(1) == b""
        accepted.close()
    (found,) = taken({"decider": port}, "127.0.0.1")
    assert (str(found), found.ended) == (f"decider {port} is taken by a connection that ended", True)


def test_connections_that_ended_are_waited_for_and_nothing_else() -> None:
    ended, other = Taken("decider", 1, None, "", listens=False, ended=True), Taken("kafka", 2, 7, "java")
    answers, told, slept = [[ended], [ended], []], list[str](), list[float]()
    assert taken_for_long(lambda: answers.pop(0), told.append, slept.append) == []
    assert (told, slept) == (["decider 1 is taken by a connection that ended"], [1.0, 1.0])
    for found in ([other], [ended, other]):
        assert taken_for_long(found.copy, told.append, slept.append) == found
    assert len(slept) == 2
    assert taken_for_long([ended].copy, told.append, slept.append) == [ended]
    assert len(slept) == 2 + 75


def test_a_listener_whose_owner_is_not_seen_is_waited_for_since_it_may_be_ending() -> None:
    told: list[str] = []
    slept: list[float] = []
    ending = Taken("kafka", 9092, None, "")
    answers = [[ending], [ending], []]
    assert taken_for_long(lambda: answers.pop(0), told.append, slept.append) == []
    assert (told, slept) == ([str(ending)], [1.0, 1.0])
    assert taken_for_long([ending].copy, told.append, slept.append) == [ending]
    assert len(slept) == 2 + 10


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
    text = str(Taken("kafka", 9092, None, ""))
    assert text == "kafka 9092 is taken by a process of another user, or one that is ending"
