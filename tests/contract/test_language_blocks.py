"""docs/your-application.md: the block of each language compiles, or runs and sends spans.
docs/actuators-programs.md: the block of waitress resizes its threads.

Not of .NET: no registry of set-up has its SDK.
"""

import os
import re
import shutil
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import requests
from markdown_it import MarkdownIt
from opentelemetry import environment_variables
from opentelemetry.sdk import environment_variables as sdk_variables

from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.waiting import eventually
from stack.installs import ACTUATORS, AGENTS, BIN, INSTRUMENTED, INSTRUMENTED_NODE, INSTRUMENTED_PYTHON
from stack.layout import java_home
from stack.toolchain import go_path, npm_path
from testbed.receiver import receiver

PAGE = Path(__file__).resolve().parents[2] / "docs/your-application.md"
PROGRAMS = PAGE.with_name("actuators-programs.md")
EVERY = "Variables for every language"
IMPORTS = (
    "net/http",
    "github.com/XSAM/otelsql",
    "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp",
    "go.opentelemetry.io/otel",
    "go.opentelemetry.io/otel/propagation",
)
#: Commands of the page that set-up has done.
INSTALLS = ("pip install ", "npm install ", "opentelemetry-bootstrap ")
#: A WSGI application whose requests end once no file `gate` exists.
GATED = """
import pathlib
import time


def app(environ, start):
    while pathlib.Path("gate").exists():
        time.sleep(0.02)
    start("200 OK", [])
    return [b""]
"""


def block(heading: str, page: Path = PAGE) -> str:
    """The first block below a heading."""
    _, _, section = page.read_text().partition(f"# {heading}\n")
    return next(token.content for token in MarkdownIt("commonmark").parse(section) if token.type == "fence")


def variables(heading: str) -> list[str]:
    return re.findall(r"^export (OTEL_\w+)=", block(heading), re.MULTILINE)


def run(script: str, folder: Path, url: str = "", **more: str) -> list[dict[str, str]]:
    """Runs a script in `folder` with the variables for every language until it sends the span of a server.

    url: asked until then, for a service that does not ask itself. Returns the attributes of all spans.
    """
    with receiver() as up:

        def has_arrived() -> bool:
            if url:
                with suppress(requests.ConnectionError):
                    requests.get(url, timeout=10)
            return any(span.kind == span.SPAN_KIND_SERVER for _resource, span in up.spans())

        *others, last = [line for line in script.splitlines() if not line.startswith(INSTALLS)]
        lines = [f"cd {folder}", block(EVERY).replace("127.0.0.1:4317", up.address), *others, f"exec {last}"]
        environment = os.environ | more
        with running("service", ["bash", "-ec", "\n".join(lines)], has_arrived, folder / "log", 120, environment):
            pass  # what still waits for the exporter is sent when the service ends
        spans = up.spans()
    assert {(of["service.name"], of["service.instance.id"]) for of, _span in spans} == {("shop", "shop-1")}
    return [{attribute.key: attribute.value.string_value for attribute in span.attributes} for _of, span in spans]


def test_opentelemetry_knows_the_variables_for_every_language() -> None:
    assert len(variables(EVERY)) == 9
    known = {*dir(environment_variables), *dir(sdk_variables)}
    assert [name for name in variables(EVERY) if name not in known] == []


def test_the_agent_knows_the_variables_of_java() -> None:
    """A class has the property of a variable, or that without `otel.instrumentation`: `common.peer-service-mapping`."""
    names = [name.removeprefix("OTEL_").removeprefix("INSTRUMENTATION_") for name in variables("Java")]
    assert len(names) == 2
    with zipfile.ZipFile(AGENTS / "opentelemetry-javaagent.jar") as jar:
        classes = [name for name in jar.namelist() if re.search(r"/(Jmx|ServicePeer)\w+\.classdata$", name)]
        constants = b"".join(jar.read(name) for name in classes).decode("latin-1")
    assert [name for name in names if not re.search(name.lower().replace("_", "[.-]"), constants)] == []


def test_the_block_of_go_compiles(tmp_path: Path) -> None:
    for name in ("go.mod", "go.sum"):
        shutil.copy(INSTRUMENTED / "go" / name, tmp_path)
    imports = "\n".join(f'"{name}"' for name in IMPORTS)
    body = f"func serve(dsn string, update http.Handler) error {{\n{block('Go')}\nreturn nil\n}}"
    (tmp_path / "main.go").write_text(f"package shop\nimport (\n{imports}\n)\n{body}\n")
    done = subprocess.run([go_path(), "vet", "."], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_service_in_go_sends_spans(tmp_path: Path) -> None:
    """Also those of requests that fail, since its database is away."""
    (port,) = free_ports(1)
    script = f"{BIN / 'instrumented'} {port} postgres://sluice@127.0.0.1:1/postgres 4"
    assert {"url.path": "/update"}.items() <= run(script, tmp_path, f"http://127.0.0.1:{port}/update")[-1].items()


@pytest.mark.long
def test_the_block_of_python_sends_spans(tmp_path: Path) -> None:
    shutil.copy(INSTRUMENTED / "python/service.py", tmp_path)
    (port,) = free_ports(1)
    script = block("Python").replace("8080", str(port))
    path = f"{INSTRUMENTED_PYTHON}:{os.environ['PATH']}"
    pool = {"DATABASE": f"sqlite:///{tmp_path}/rows", "CONNECTIONS": "4", "PYTHONPATH": str(tmp_path)}
    spans = run(script, tmp_path, f"http://127.0.0.1:{port}/update", PATH=path, **pool)
    assert {span.get("db.system") for span in spans} >= {"sqlite"}


@pytest.mark.long
def test_the_block_of_waitress_resizes(tmp_path: Path) -> None:
    """24 requests on 16 threads: 8 wait. With 4 threads 20 wait, and with 20 threads 4."""
    port, handler = free_ports(2)
    token, gate = tmp_path / "token", tmp_path / "gate"
    token.write_text("0123456789abcdef")
    shop = block("Threads of waitress", PROGRAMS).replace("/run/secrets/pools", str(token))
    (tmp_path / "shop.py").write_text(shop.replace("8080", str(port)).replace("8099", str(handler)))
    (tmp_path / "service.py").write_text(GATED)
    url, known = f"http://127.0.0.1:{handler}/threads", {"Authorization": "Bearer 0123456789abcdef"}

    def threads(**size: int) -> dict[str, int]:
        answer = requests.request("PUT" if size else "GET", url, json=size or None, headers=known, timeout=10)
        return dict(answer.json())

    def request() -> int:
        return requests.get(f"http://127.0.0.1:{port}/", timeout=100).status_code

    command = ["bash", "-ec", f"cd {tmp_path}; exec opentelemetry-instrument python shop.py"]
    environment = os.environ | {
        "PATH": f"{INSTRUMENTED_PYTHON}:{os.environ['PATH']}",
        "PYTHONPATH": str(ACTUATORS / "handlers/python"),
        "OTEL_TRACES_EXPORTER": "none",
        "OTEL_METRICS_EXPORTER": "none",
    }
    with (
        ThreadPoolExecutor(24) as clients,
        running("shop", command, answers(url, 401), tmp_path / "log", 60, environment),
    ):
        gate.touch()
        codes = [clients.submit(request) for _ in range(24)]
        full = {"size": 16, "open": 16, "busy": 16, "waiting": 8}
        assert eventually(threads, full) == full
        assert threads(size=4) == {"size": 4, "open": 16, "busy": 16, "waiting": 8}
        gate.unlink()
        rest = {"size": 4, "open": 4, "busy": 0, "waiting": 0}
        assert eventually(threads, rest) == rest
        gate.touch()
        codes += [clients.submit(request) for _ in range(24)]
        full = {"size": 4, "open": 4, "busy": 4, "waiting": 20}
        assert eventually(threads, full) == full
        threads(size=20)
        full = {"size": 20, "open": 20, "busy": 20, "waiting": 4}
        assert eventually(threads, full) == full
        gate.unlink()
        assert [code.result() for code in codes] == [200] * 48


@pytest.mark.long
def test_the_block_of_java_sends_spans_and_names_the_peer(tmp_path: Path) -> None:
    java = java_home() / "bin"
    shutil.copy(INSTRUMENTED / "java/Shop.java", tmp_path)
    subprocess.run([java / "javac", "Shop.java"], cwd=tmp_path, check=True)
    (tmp_path / "manifest").write_text("Main-Class: Shop\n")
    subprocess.run(f"{java / 'jar'} cfm shop.jar manifest *.class", shell=True, cwd=tmp_path, check=True)
    script = block("Java").replace("/opt/", f"{AGENTS}/").replace("10.0.0.7", "127.0.0.1")
    spans = run(script, tmp_path, PATH=f"{java}:{os.environ['PATH']}")
    assert "stock" in {span.get("peer.service") for span in spans}


@pytest.mark.long
def test_the_block_of_node_sends_spans(tmp_path: Path) -> None:
    shutil.copy(INSTRUMENTED / "node/app.js", tmp_path)
    (tmp_path / "node_modules").symlink_to(INSTRUMENTED_NODE / "node_modules")
    run(block("Node"), tmp_path, PATH=f"{npm_path().parent}:{os.environ['PATH']}")
