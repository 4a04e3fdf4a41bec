"""The handlers that Python and Node programs import: `serve` and `handler` of one shape, over HTTP.

Go's are in actuators/handlers/go, and all three run under load in test_resizable_programs.py.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from sqlalchemy import create_engine, text

from stack.installs import ACTUATORS
from stack.toolchain import npm_path

sys.path.append(str(ACTUATORS / "handlers/python"))
from sluice_pools import handler, serve
from sluice_sqlalchemy import ResizablePool

TOKEN = "0123456789abcdef0123"
NODE = """
const { handler, serve } = require(process.argv[1])
const pool = { size: 8, sizes: () => [pool.size, 3], use: () => [2, undefined], resize: (n) => { pool.size = n } }
const server = serve('127.0.0.1', 0, process.argv[2], { rows: pool })
server.on('listening', () => console.log(server.address().port))
process.stdin.on('data', () => {}).on('end', () => process.exit(typeof handler === 'function' ? 0 : 1))
"""


@pytest.fixture
def token(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    return path


@contextmanager
def python(token: Path) -> Iterator[str]:
    engine = create_engine("sqlite://", poolclass=ResizablePool, pool_size=8, connect_args={"check_same_thread": False})
    assert isinstance(engine.pool, ResizablePool)
    server = serve("127.0.0.1", 0, str(token), {"rows": engine.pool})
    with engine.connect() as first, engine.connect() as second:
        for connection in (first, second):
            connection.execute(text("SELECT 1"))
        engine.connect().close()
        yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def node_command(token: Path) -> list[str | Path]:
    beside = npm_path().with_name("node")
    program = beside if beside.is_absolute() else shutil.which("node") or "node"
    return [program, "-e", NODE, ACTUATORS / "handlers/node/sluice-pools.js", token]


@contextmanager
def node(token: Path) -> Iterator[str]:
    with subprocess.Popen(node_command(token), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize("program", [python, node])
def test_a_served_pool_is_read_and_resized_by_who_has_the_token(token: Path, program: Callable[[Path], Any]) -> None:
    with program(token) as url:

        def ask(method: str, path: str = "/rows", body: str = "", bearer: str = TOKEN) -> tuple[int, dict[str, Any]]:
            headers = {"Authorization": f"Bearer {bearer}"}
            answer = requests.request(method, url + path, data=body, headers=headers, timeout=60)
            return answer.status_code, answer.json()

        status, fields = ask("GET")
        assert (status, fields["size"], fields["open"], fields["busy"]) == (200, 8, 3, 2)
        assert fields.get("waiting") == (0 if program is python else None)  # what is not known is left out
        assert ask("PUT", body='{"size": 5}')[1]["size"] == 5
        assert ask("GET")[1]["size"] == 5
        assert ask("GET", bearer="another token of 20")[0] == 401
        assert ask("GET", "/others") == (404, {"error": "no such pool"})
        long = json.dumps({"size": 5, "x": "x" * 2000})
        for body in ("", "{", '{"size": 0}', '{"size": 65536}', '{"size": true}', long):
            assert ask("PUT", body=body) == (400, {"error": "size: want 1 to 65535"})
        assert ask("DELETE")[0] == 405
        assert ask("GET")[1]["size"] == 5
        token.write_text("0123456789abcde")
        short = {"error": "token_file: want 16 characters or more, got 15"}
        assert ask("GET", bearer="0123456789abcde") == (401, short)


@pytest.mark.parametrize("program", [python, node])
def test_no_request_ends_the_program_or_goes_without_an_answer(token: Path, program: Callable[[Path], Any]) -> None:
    """A program that ends takes its service with it."""
    with program(token) as url:
        address = urlsplit(url)

        def ask(method: str, path: str, body: bytes = b"", **headers: str) -> int:
            connection = HTTPConnection(address.hostname or "", address.port, timeout=60)
            try:
                connection.request(method, path, body, {"Host": "h", "Authorization": f"Bearer {TOKEN}", **headers})
                return connection.getresponse().status
            finally:
                connection.close()

        for path in ("//", "///[", "/%", "/%ff%00", "http://%", "*", "/__proto__", "/constructor", "/" + "a" * 8000):
            assert ask("GET", path) in (400, 404), path
        for body in (b"[" * 1020, b'{"size":' * 100, b'{"size": 1e999}', b'{"size": NaN}', b"\xff\xfe", b"null", b"[]"):
            assert ask("PUT", "/rows", body) == 400, body
        assert ask("PUT", "/rows", b"", **{"Content-Length": "9" * 5000}) in (400, 413)
        assert ask("GET", "/rows") == 200


def test_pythons_handler_is_mounted_in_a_server_of_the_program(token: Path) -> None:
    engine = create_engine("sqlite://", poolclass=ResizablePool, pool_size=8)
    assert isinstance(engine.pool, ResizablePool)
    application, started = handler(str(token), {"rows": engine.pool}), list[str]()
    asked = {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/pools", "PATH_INFO": "/rows"}
    (body,) = application({**asked, "HTTP_AUTHORIZATION": f"Bearer {TOKEN}"}, lambda status, _: started.append(status))
    assert (started, body) == (["200 OK"], b'{"size": 8, "open": 0, "busy": 0, "waiting": 0}')


def test_serve_refuses_a_short_token(token: Path) -> None:
    token.write_text("0123456789abcde\n")
    refused = "token_file: want 16 characters or more, got 15"
    with pytest.raises(ValueError, match=refused):
        serve("127.0.0.1", 0, str(token), {})
    done = subprocess.run(node_command(token), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert refused in done.stderr
    token.unlink()
    with pytest.raises(FileNotFoundError):
        handler(str(token), {})
