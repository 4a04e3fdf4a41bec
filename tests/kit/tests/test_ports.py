"""Ports for servers of tests."""

import socket
from pathlib import Path

import pytest

from sluice_kit.machine import ports
from sluice_kit.machine.ports import free_ports


def test_none_is_one_that_linux_gives_a_connection() -> None:
    """A test's ClickHouse did not start: between the choice of its port and its start a connection was given it."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    found = free_ports(50)
    assert len(set(found)) == 50
    assert max(found) < first


def test_what_another_has_is_not_given(monkeypatch) -> None:
    taken, free = free_ports(2)
    monkeypatch.setattr(ports, "RANGE", [taken, free])
    with socket.create_server(("127.0.0.1", taken)):
        assert free_ports(1) == [free]
        with pytest.raises(OSError, match=r"find 2 free ports .*: 1 are free"):
            free_ports(2)
