"""Ports that are given out are different, free, and of the range that is promised."""

import socket

import pytest

from support.ports import KEPT, free_ports, restart_ports


def test_ports_are_different_and_free() -> None:
    for given in (free_ports(5), restart_ports(5)):
        assert len(set(given)) == 5
        for port in given:
            with socket.socket() as one:
                one.bind(("127.0.0.1", port))


def test_what_is_restarted_has_no_port_that_a_connection_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    given = restart_ports(5)
    assert all(port in KEPT and port < 32_768 for port in given)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", given[0]))
        monkeypatch.setattr("support.ports.KEPT", range(given[0], given[0] + 1))
        with pytest.raises(OSError, match=f"1 free ports in {given[0]} to {given[0]}: there are 0"):
            restart_ports(1)
