"""A small real HTTP server with fixed answers."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FixedServer:
    """`answers`: path (with query) -> body as text or JSON, or (status, body). Everything else is 404.
    A body of None never answers within the tests' timeouts."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self._released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = outer.answers.get(self.path, (404, "nothing here"))
                status, body = answer if isinstance(answer, tuple) else (200, answer)
                if body is None:
                    outer._released.wait(20)
                data = (body if isinstance(body, str) else json.dumps(body)).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the client gave up
                    self.end_headers()
                    self.wfile.write(data)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def log_message(self, *words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.address}"

    def __enter__(self) -> "FixedServer":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
