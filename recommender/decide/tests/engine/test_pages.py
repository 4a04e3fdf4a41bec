"""Health, and the pages that show it."""

import socket
import urllib.error
import urllib.request

import pytest
from prometheus_client import CollectorRegistry

from sluice.engine.address import Address, AddressError, health_address
from sluice.engine.health import Health
from sluice.engine.pages import READERS, Pages

USUAL = "127.0.0.1:8092"


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({}, "127.0.0.1:8092"),
        ({"SLUICE_HEALTH": "127.0.0.2:0"}, "127.0.0.2:0"),
        ({"SLUICE_HEALTH": "[::1]:9464", "SLUICE_HEALTH_EXPOSE": "false"}, "[::1]:9464"),
        ({"SLUICE_HEALTH": "0.0.0.0:9464", "SLUICE_HEALTH_EXPOSE": "true"}, "0.0.0.0:9464"),
        ({"SLUICE_HEALTH": "[::]:9464", "SLUICE_HEALTH_EXPOSE": "true"}, "[::]:9464"),
    ],
)
def test_legal_addresses(variables: dict[str, str], address: str) -> None:
    assert str(health_address(variables, USUAL)) == address


@pytest.mark.parametrize("text", ["0.0.0.0:9464", "[::]:9464", "10.0.0.1:9464"])
def test_the_network_needs_a_permission_that_the_error_names(text: str) -> None:
    with pytest.raises(
        AddressError, match=r"legal: an address of loopback, as .*, or any with SLUICE_HEALTH_EXPOSE=tr"
    ):
        health_address({"SLUICE_HEALTH": text}, USUAL)


@pytest.mark.parametrize("text", ["9464", "localhost:9464", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:http", ":"])
def test_other_texts_are_no_addresses(text: str) -> None:
    with pytest.raises(AddressError, match=r"is not legal; legal: IP:PORT, as 127.0.0.1:8092 or \[::1\]:9464; port 0"):
        health_address({"SLUICE_HEALTH": text, "SLUICE_HEALTH_EXPOSE": "true"}, USUAL)
    with pytest.raises(AddressError, match="SLUICE_HEALTH_EXPOSE=yes is not legal; legal: true, false"):
        health_address({"SLUICE_HEALTH_EXPOSE": "yes"}, USUAL)


def test_a_loop_hangs_once_its_next_progress_is_due() -> None:
    now = 100.0
    health = Health(lambda: now)
    now = 219.9
    assert health.hangs() == []
    now = 220.1  # 120 s after its start
    assert health.hangs() == health.unready() == ["loop: no progress for 120 s"]
    health.progress(within_s=600.0)
    now += 599.0
    assert health.hangs() == []


def test_causes_are_kept_by_part_in_one_line_each() -> None:
    health = Health()
    health.lacks("schema", "have none,\n need 0")
    health.lacks("kafka", "away")
    health.lacks("kafka", "no topics")
    assert health.unready() == ["schema: have none, need 0", "kafka: no topics"]
    health.has("schema")
    health.has("never lacked")
    assert (health.unready(), health.hangs()) == (["kafka: no topics"], [])


def page(pages: Pages, path: str, method: str = "GET") -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{pages.port}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_pages() -> None:
    now = 0.0
    health = Health(lambda: now)
    pages = Pages(Address("127.0.0.1", 0), CollectorRegistry(), health)
    pages.start()
    try:
        assert page(pages, "/livez") == page(pages, "/readyz") == page(pages, "/readyz?verbose") == (200, "ok\n")
        health.lacks("schema", "have none, need 0; run `sluice-migrate up`")
        health.lacks("kafka", "away")
        assert page(pages, "/readyz") == (503, "schema: have none, need 0; run `sluice-migrate up`\nkafka: away\n")
        assert page(pages, "/livez") == (200, "ok\n")
        now = 121.0
        assert page(pages, "/livez") == (503, "loop: no progress for 121 s\n")
        assert page(pages, "/metrics") == (200, "")
        assert page(pages, "/healthz")[0] == 404
        assert page(pages, "/livez", "POST")[0] == 501
    finally:
        pages.close()


def test_readers_beyond_the_bound_are_closed() -> None:
    """One that sends nothing holds a thread for 10 s."""
    pages = Pages(Address("127.0.0.1", 0), CollectorRegistry(), Health())
    pages.start()
    idle = [socket.create_connection(("127.0.0.1", pages.port)) for _ in range(READERS)]
    try:
        with socket.create_connection(("127.0.0.1", pages.port)) as beyond:
            assert beyond.recv(1) == b""
    finally:
        for connection in idle:
            connection.close()
        pages.close()


def test_a_port_that_is_taken_is_an_error_of_the_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        with pytest.raises(AddressError, match=r"listen on SLUICE_HEALTH=127.0.0.1:\d+: "):
            Pages(Address("127.0.0.1", other.getsockname()[1]), CollectorRegistry(), Health())


@pytest.mark.parametrize(
    ("host", "requested", "served"),
    [
        ("127.0.0.1", "127.0.0.1:8092", True),
        ("127.0.0.1", "localhost:8092", True),
        ("127.0.0.1", "", True),
        ("::1", "[::1]:8092", True),
        ("127.0.0.1", "attacker.example:8092", False),
        ("127.0.0.1", "127.0.0.1.attacker.example", False),
        ("0.0.0.0", "decider-0.decider.sluice.svc:9464", True),
    ],
)
def test_on_loopback_a_name_that_was_made_to_lead_here_is_refused(host: str, requested: str, served: bool) -> None:
    assert Address(host, 8092).serves(requested) is served


def test_a_page_of_a_browser_reads_no_metrics() -> None:
    pages = Pages(Address("127.0.0.1", 0), CollectorRegistry(), Health(lambda: 0.0))
    pages.start()
    try:
        request = urllib.request.Request(f"http://127.0.0.1:{pages.port}/metrics", headers={"Host": "attacker.example"})
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(request, timeout=10)
    finally:
        pages.close()
