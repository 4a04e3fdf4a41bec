"""The HTTP API against a real server, with the simulation stepped by the test's own loop."""

import json
import threading
import urllib.error
import urllib.request

import pytest

from testbed.control import Control, serve
from testbed.handover import Handover
from testbed.presets.shop import CART_THREADS, shop
from testbed.simulation import Simulation


@pytest.fixture
def api():
    simulation = Simulation(shop(), 1, lambda span: None)
    handover, stop = Handover(), threading.Event()

    def loop():
        while not stop.is_set():
            simulation.run_until(simulation.engine.now + 0.01)
            handover.serve(0.01)

    services = simulation.application.services
    control = Control(simulation.pools, services, lambda: {"users": simulation.users.present}, handover)
    server = serve(control, "127.0.0.1", 0)
    threads = [threading.Thread(target=loop), threading.Thread(target=server.serve_forever)]
    for thread in threads:
        thread.start()

    def call(method, path, body=None, headers=None):
        url = f"http://127.0.0.1:{server.server_address[1]}{path}"
        request = urllib.request.Request(url, body, headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    yield call
    server.shutdown()
    server.server_close()
    stop.set()
    for thread in threads:
        thread.join()


def test_lists_both_pools(api):
    status, answer = api("GET", "/pools")
    assert status == 200
    pools = {pool["name"]: pool for pool in answer["pools"]}
    assert set(pools) == {"cart.threads", "catalogue.connections"}
    cart = pools["cart.threads"]
    assert set(cart) == {"name", "service", "side", "peer", "size", "min", "max", "in_use", "queued", "busy", "waiting"}
    assert (cart["service"], cart["side"], cart["peer"], cart["size"]) == ("cart", "server", "", 64)
    assert [pools["catalogue.connections"][key] for key in ("service", "side", "peer")] == [
        "catalogue",
        "client",
        "catalogue-db",
    ]


def test_a_resize_is_read_back(api):
    status, answer = api("PUT", f"/pools/{CART_THREADS}", b'{"size": 12}')
    assert (status, answer["size"], answer["name"]) == (200, 12, CART_THREADS)
    assert api("GET", f"/pools/{CART_THREADS}")[1]["size"] == 12


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"size": 0}', "size: must be an integer from 1 to 256, got 0"),
        (b'{"size": 257}', "size: must be an integer from 1 to 256, got 257"),
        (b'{"size": -3}', "size: must be an integer from 1 to 256, got -3"),
        (b'{"size": 12.5}', "size: must be an integer from 1 to 256, got 12.5"),
        (b'{"size": "12"}', 'size: must be an integer from 1 to 256, got "12"'),
        (b'{"size": true}', "size: must be an integer from 1 to 256, got true"),
        (b'{"size": null}', "size: must be an integer from 1 to 256, got null"),
        (b'{"size": NaN}', "size: must be an integer from 1 to 256, got NaN"),
        (b"{}", "size: missing, must be an integer from 1 to 256"),
        (b'{"size": 12, "force": true}', "force: unknown field, the only one is size, an integer from 1 to 256"),
        (b"[12]", 'body: must be a JSON object {"size": an integer from 1 to 256}'),
        (b"", 'body: must be a JSON object {"size": an integer from 1 to 256}'),
        (b"\xff\xfe{", 'body: must be a JSON object {"size": an integer from 1 to 256}'),
        (b"[" * 60_000, 'body: must be a JSON object {"size": an integer from 1 to 256}'),
        (b" " * 70_000, "Content-Length: must be an integer from 0 to 65536"),
    ],
)
def test_a_bad_size_is_answered_with_the_field_and_its_range(api, body, message):
    assert api("PUT", f"/pools/{CART_THREADS}", body) == (400, {"error": message})
    assert api("GET", f"/pools/{CART_THREADS}")[1]["size"] == 64


@pytest.mark.parametrize(
    ("method", "path", "status", "word"),
    [
        ("GET", "/pools/cart", 404, "'cart' is unknown, must be one of cart.threads, catalogue.connections"),
        ("PUT", "/pools/nothing", 404, "'nothing' is unknown"),
        ("GET", "/", 404, "/pools/NAME"),
        ("GET", "/pools/cart.threads/size", 404, "path"),
        ("DELETE", "/pools/cart.threads", 405, "method: must be GET or PUT, got DELETE"),
        ("PUT", "/stats", 405, "method: must be GET, got PUT"),
    ],
)
def test_what_is_not_there(api, method, path, status, word):
    code, answer = api(method, path, b"{}" if method == "PUT" else None)
    assert code == status
    assert word in answer["error"]


def test_a_service_waits_as_many_times_as_long(api):
    assert {"name": "cart-db", "waits": 1.0} in api("GET", "/services")[1]["services"]
    assert api("PUT", "/services/cart-db", b'{"waits": 4}') == (200, {"name": "cart-db", "waits": 4.0})
    assert api("GET", "/services/cart-db") == (200, {"name": "cart-db", "waits": 4.0})


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b'{"waits": 21}', "waits: must be a number from 0.1 to 20, got 21"),
        (b'{"waits": "4"}', 'waits: must be a number from 0.1 to 20, got "4"'),
        (b'{"waits": true}', "got true"),
        (b'{"waits": NaN}', "got NaN"),
        (b"{}", "waits: missing"),
        (b'{"wait": 1}', "wait: unknown field, the only one is waits"),
        (b"[", "body: must be a JSON object"),
    ],
)
def test_what_no_service_waits(api, body, word):
    code, answer = api("PUT", "/services/cart-db", body)
    assert (code, word in answer["error"]) == (400, True)
    assert api("GET", "/services/cart-db")[1]["waits"] == 1.0


def test_an_unknown_service_is_named_with_those_there_are(api):
    code, answer = api("PUT", "/services/carts", b'{"waits": 2}')
    assert (code, "'carts' is unknown, must be one of cart, cart-db" in answer["error"]) == (404, True)


def test_health_and_statistics(api):
    assert api("GET", "/healthz") == (200, {"status": "ok"})
    assert api("GET", "/stats")[1]["users"] >= 0


def test_many_at_once_are_all_answered(api):
    answers = []

    def resize(size):
        answers.append(api("PUT", "/pools/cart.threads", json.dumps({"size": size}).encode()))

    clients = [threading.Thread(target=resize, args=(size,)) for size in range(1, 33)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert sorted((status, answer["size"]) for status, answer in answers) == [(200, size) for size in range(1, 33)]


def test_a_simulation_that_does_not_answer_is_a_timeout_and_the_command_never_runs():
    handover, ran = Handover(), []
    with pytest.raises(TimeoutError, match="busy or has stopped"):
        handover.ask(lambda: ran.append(1), timeout=0.05)
    handover.serve(0.0)
    assert ran == []


def test_an_error_of_a_command_reaches_whoever_asked():
    handover, errors = Handover(), []

    def ask():
        try:
            handover.ask(lambda: 1 / 0)
        except ZeroDivisionError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    handover.serve(0.5)
    thread.join()
    assert len(errors) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example:8090"},  # its name was made to lead to 127.0.0.1
        {"Host": "127.0.0.1.attacker.example"},
        {"Host": "127.0.0.1:8090", "Origin": "http://attacker.example"},
        {"Host": "127.0.0.1:8090", "Origin": "null"},
        {"Host": "127.0.0.1:8090", "Origin": "http://127.0.0.1:3000"},
    ],
)
def test_a_page_of_a_browser_changes_nothing(api, headers):
    status, answer = api("PUT", f"/pools/{CART_THREADS}", b'{"size": 12}', headers)
    assert (status, answer["error"].partition(":")[0]) == (403, "Origin" if "Origin" in headers else "Host")
    assert api("GET", f"/pools/{CART_THREADS}")[1]["size"] == 64


@pytest.mark.parametrize("host", ["localhost:8090", "demo:8090", "10.1.2.3", "[::1]:8090"])
def test_who_reaches_the_demo_by_an_address_or_a_name_of_its_network_may_change_it(api, host):
    headers = {"Host": host, "Origin": f"http://{host}"}
    assert api("PUT", f"/pools/{CART_THREADS}", b'{"size": 12}', headers)[0] == 200
