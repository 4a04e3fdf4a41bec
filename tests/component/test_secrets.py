"""What server, records, decider and actuator write while logins fail has no secret in it, and neither has what every
process of the machine may read of them: their arguments."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from sluice_kit.machine.ports import free_ports
from sluice_kit.waiting import until

REPOSITORY = Path(__file__).resolve().parents[2]
BIN = REPOSITORY / ".cache/bin"
SECRETS = {
    name: f"marked-{name}-5ecret-0123456789"
    for name in ("clickhouse", "kafka", "server", "actuator", "header", "url", "key")
}
FAULT = re.compile("401|refuse|fail|error|cannot|disconnected|EOF", re.IGNORECASE)
# As long as a busy machine may take to start a process.
PATIENCE_S = 100


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, secret in SECRETS.items():
        (tmp_path / name).write_text(f"{secret}\n")
    (tmp_path / "server").write_text(f"{SECRETS['server']} viewer read\n")
    (tmp_path / "kafka.properties").write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\n"
        f"sasl.username=sluice\nsasl.password={SECRETS['kafka']}\n"
    )
    (tmp_path / "sluice.yaml").write_text(
        "slos:\n  - {name: checkout, service: frontend, latency: 250ms}\n"
        "pools:\n  - {service: cart, side: server, slo: checkout, upstream: 100ms}\n"
    )
    return tmp_path


@contextmanager
def refusing() -> Iterator[int]:
    """A port where every request of HTTP gets 401 with its own headers back, and anything else an end."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                try:
                    asked = connection.recv(65536)
                    head = b"HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(asked)
                    connection.sendall(head + asked)
                except OSError:
                    continue

    threading.Thread(target=answer, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def variables(files: Path, port: int) -> dict[str, str]:
    address = f"127.0.0.1:{port}"
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(REPOSITORY / "recommender/decide/src"),
        "SLUICE_KAFKA": address,
        "SLUICE_KAFKA_PROPERTIES": str(files / "kafka.properties"),
        "SLUICE_CLICKHOUSE": f"http://{address}",
        "SLUICE_CLICKHOUSE_READER": "sluice_reader",
        "SLUICE_CLICKHOUSE_READER_PASSWORD_FILE": str(files / "clickhouse"),
        "SLUICE_RECOMMENDER": f"127.0.0.1:{free_ports(1)[0]}",
        "SLUICE_TOKENS": str(files / "server"),
        "SLUICE_HEALTH": f"127.0.0.1:{free_ports(1)[0]}",
    }


def actuator(files: Path, port: int) -> str:
    """Writes the configuration of two targets, whose credentials are in a token's file and in URLs.

    Returns the address of its pages.
    """
    (status,) = free_ports(1)
    (files / "token").write_text(f"{SECRETS['actuator']}\n")
    (files / "actuator.yaml").write_text(
        f"""
name: marked
status_address: http://127.0.0.1:{status}
recommender: {{address: "127.0.0.1:{port}", interval: 1s}}
targets:
  - name: cart
    pool: {{service: cart, side: server}}
    min: 2
    max: 128
    http:
      token_file: {files / "header"}
      read: {{url: "http://127.0.0.1:{port}/cart?key={SECRETS["key"]}", pointer: /size}}
      write: {{method: PUT, url: "http://127.0.0.1:{port}/cart", body: '{{"size": {{{{.Size}}}}}}'}}
  - name: orders
    pool: {{service: orders, side: server}}
    min: 2
    max: 128
    http:
      read: {{url: "http://ann:{SECRETS["url"]}@127.0.0.1:{port}/orders", pointer: /size}}
      write: {{method: PUT, url: "http://127.0.0.1:{port}/orders", body: '{{"size": {{{{.Size}}}}}}'}}
"""
    )
    return f"127.0.0.1:{status}"


def found(texts: dict[str, str]) -> list[str]:
    sent = b64encode(f"ann:{SECRETS['url']}".encode()).decode()  # RFC 7617
    return [
        f"{secret} in {where}"
        for where, text in texts.items()
        for secret in (*SECRETS.values(), sent)
        if secret in text
    ]


PROGRAMS = {
    "server": [str(BIN / "sluice-server")],
    "records": [str(BIN / "sluice-server"), "records"],
    "decider": [sys.executable, "-m", "sluice.decider", "--config", "sluice.yaml"],
    "actuator": [str(BIN / "sluice-actuator"), "--config", "actuator.yaml"],
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_process_whose_logins_fail_tells_no_secret(files: Path, program: str) -> None:
    with refusing() as port:
        environment, output = variables(files, port), files / "output"
        pages = environment["SLUICE_HEALTH"]
        if program == "records":
            environment["SLUICE_CLICKHOUSE_USER"] = "sluice_writer"
            environment["SLUICE_CLICKHOUSE_PASSWORD_FILE"] = str(files / "clickhouse")
        if program == "actuator":
            pages = actuator(files, port)
            environment = {"PATH": environment["PATH"], "SLUICE_TOKEN_FILE": str(files / "token")}
        with (
            output.open("wb") as out,
            subprocess.Popen(PROGRAMS[program], env=environment, stdout=out, stderr=out, cwd=files) as process,
        ):
            try:
                wait_for_a_fault(process, output)
                if program != "records":  # it has no pages
                    until("the metrics page", lambda: read(f"http://{pages}/metrics") != "")
                arguments = Path(f"/proc/{process.pid}/cmdline").read_text()
                texts = {path: read(f"http://{pages}{path}") for path in ("/status", "/readyz", "/metrics")}
                # Go writes its goroutines and ends, as in a panic; Python ends. A shell lets what it runs in the
                # background ignore SIGQUIT, which does the same.
                process.send_signal(signal.SIGABRT)
                process.wait(PATIENCE_S)
            finally:
                process.kill()
    said = output.read_text(errors="replace")
    assert found({"its output": said, "its arguments": arguments, **texts}) == []
    assert texts["/metrics"] or program == "records"
    assert "goroutine " in said or program == "decider"


def wait_for_a_fault(process: subprocess.Popen[bytes], output: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not FAULT.search(output.read_text(errors="replace")):
        assert process.poll() is None, output.read_text()
        assert time.monotonic() < deadline, output.read_text()
        time.sleep(0.1)
    time.sleep(2)  # more faults than the first


def read(url: str) -> str:
    try:
        return requests.get(url, timeout=5).text
    except requests.RequestException:
        return ""


KAFKA = SECRETS["kafka"]


@pytest.mark.parametrize("program", ["server", "decider"])
@pytest.mark.parametrize(
    "properties",
    [f"sasl.pasword={KAFKA}", KAFKA, f"sasl.password: {KAFKA}", f"sasl.mechanism={KAFKA}\nsasl.password={KAFKA}\n\0"],
)
def test_settings_that_are_not_legal_are_refused_without_a_secret(files: Path, program: str, properties: str) -> None:
    (files / "kafka.properties").write_text(properties.replace(f"mechanism={KAFKA}", "mechanism=NONE"))
    (port,) = free_ports(1)
    refused_without_a_secret(files, program, variables(files, port))


@pytest.mark.parametrize("line", ["{} ann read more", "{} ann reed", "{} ann read\n{} bob read", "{}é ann read"])
def test_a_list_of_tokens_that_is_not_legal_is_refused_without_a_token(files: Path, line: str) -> None:
    (files / "server").write_text(line.replace("{}", SECRETS["server"]))
    (port,) = free_ports(1)
    refused_without_a_secret(files, "server", variables(files, port))


def test_a_password_in_a_variable_is_refused_without_it(files: Path) -> None:
    (port,) = free_ports(1)
    variable = {"SLUICE_CLICKHOUSE_READER_PASSWORD": SECRETS["clickhouse"]}
    refused_without_a_secret(files, "decider", variables(files, port) | variable)


def refused_without_a_secret(files: Path, program: str, environment: dict[str, str]) -> None:
    done = subprocess.run(
        PROGRAMS[program], env=environment, cwd=files, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr
    assert found({"its output": done.stdout + done.stderr}) == []
