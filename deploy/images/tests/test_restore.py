"""Starts of the job: the stored plan goes, and the newest snapshot is an option of Flink."""

import json
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

JOB = Path(__file__).resolve().parents[1] / "job"
CLUSTER = "sluice-jobs-1"
HIGH_AVAILABILITY = (
    f'high-availability.type: kubernetes\nkubernetes.cluster-id: "{CLUSTER}"\nkubernetes.namespace: shop\n'
)


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader = SourceFileLoader("forget_plan", str(JOB / "forget-plan"))
    spec = spec_from_loader(loader.name, loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


class Kubernetes(ThreadingHTTPServer):
    """ConfigMaps of one namespace, by their names."""

    def __init__(self, maps: dict[str, dict[str, str]]) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.maps = maps
        self.selectors: list[str] = []
        self.tokens: set[str | None] = set()


class Answer(BaseHTTPRequestHandler):
    server: Kubernetes

    def answer(self, content: object) -> None:
        self.server.tokens.add(self.headers["Authorization"])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        assert url.path == "/api/v1/namespaces/shop/configmaps"
        self.server.selectors += parse_qs(url.query)["labelSelector"]
        self.answer({"items": [{"metadata": {"name": name}, "data": data} for name, data in self.server.maps.items()]})

    def do_PATCH(self) -> None:
        assert self.headers["Content-Type"] == "application/merge-patch+json"
        data = self.server.maps[self.path.rsplit("/", 1)[1]]
        for key, value in json.loads(self.rfile.read(int(self.headers["Content-Length"])))["data"].items():
            assert value is None
            del data[key]
        self.answer({})

    def do_DELETE(self) -> None:
        del self.server.maps[self.path.rsplit("/", 1)[1]]
        self.answer({})

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_earlier_jobs_go_and_the_leader_stays(program: Any, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("abc")
    (tmp_path / "config.yaml").write_text(HIGH_AVAILABILITY)
    config = program.configuration(tmp_path / "config.yaml", [])
    old = "0" * 31 + "1"
    maps = {
        f"{CLUSTER}-cluster-config-map": {
            f"executionPlan-{old}": "x",
            f"org.apache.flink.k8s.leader.job-{old}": "x",
            "org.apache.flink.k8s.leader.dispatcher": "x",
        },
        f"{CLUSTER}-{old}-config-map": {"checkpointID-0000000000000000007": "x", "counter": "8"},
        "flink-config-" + CLUSTER: {"config.yaml": "x"},
    }
    with Kubernetes(maps) as kubernetes:
        threading.Thread(target=kubernetes.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{kubernetes.server_port}"
        assert program.forget(config, address, tmp_path) == [
            f"executionPlan-{old}",
            f"org.apache.flink.k8s.leader.job-{old}",
            f"{CLUSTER}-{old}-config-map",
        ]
        assert program.forget(config, address, tmp_path) == []
        kubernetes.shutdown()
    assert maps == {
        f"{CLUSTER}-cluster-config-map": {"org.apache.flink.k8s.leader.dispatcher": "x"},
        "flink-config-" + CLUSTER: {"config.yaml": "x"},
    }
    assert set(kubernetes.selectors) == {f"app={CLUSTER},type=flink-native-kubernetes"}
    assert kubernetes.tokens == {"Bearer abc"}


def test_without_high_availability_there_is_no_plan(program: Any, tmp_path: Path) -> None:
    assert program.forget({"high-availability.type": "NONE"}, "http://127.0.0.1:1", tmp_path) == []


def test_arguments_override_the_configuration(program: Any, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(HIGH_AVAILABILITY)
    config = program.configuration(tmp_path / "config.yaml", ["-Dkubernetes.cluster-id=other-2", "--job-id", "01"])
    assert config["kubernetes.cluster-id"] == "other-2"


def test_a_start_ends_where_kubernetes_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(HIGH_AVAILABILITY)
    words = [sys.executable, JOB / "forget-plan", tmp_path / "config.yaml"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "cannot remove the plan of an earlier start, so the job does not start" in done.stderr


def start(folder: Path, java: str, role: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """docker-entrypoint.sh without its configuration, with programs that print their arguments."""
    script = (JOB / "docker-entrypoint.sh").read_text()
    programs = {"java": java, "forget-plan": "true", f"bin/{role}.sh": 'echo "started: $*"'}
    for name, content in programs.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/bash\n{content}\n")
        path.chmod(0o755)
    parts = [
        "set -euo pipefail",
        "FUNCTIONS=functions.jar",
        "configure() { :; }",
        script[script.index("restore() {") :],
    ]
    return subprocess.run(
        ["bash", "-c", "\n".join(parts), "entrypoint", role, *arguments],
        env={"PATH": f"{folder}:/usr/bin:/bin", "FLINK_HOME": str(folder), "FLINK_CONF_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=20,
    )


def test_the_job_starts_from_the_newest_snapshot_with_an_id_of_its_own(tmp_path: Path) -> None:
    outputs = [start(tmp_path, "echo s3://bucket/checkpoints/01/chk-7", "standalone-job", "-py") for _ in range(2)]
    options = "-Dexecution.state-recovery.path=s3://bucket/checkpoints/01/chk-7 --job-id ([0-9a-f]{32})"
    pattern = f"started: start-foreground {options} -py\n"
    ids = [match[1] for done in outputs if (match := re.fullmatch(pattern, done.stdout))]
    assert len(set(ids)) == 2


def test_the_job_starts_without_state_where_there_is_no_snapshot(tmp_path: Path) -> None:
    done = start(tmp_path, "true", "standalone-job", "--job-id", "01")
    assert done.stdout == "started: start-foreground --job-id 01\n"


def test_the_job_does_not_start_where_the_storage_cannot_be_read(tmp_path: Path) -> None:
    done = start(tmp_path, "echo unreadable >&2; exit 1", "standalone-job")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "unreadable\n")


def test_a_task_manager_looks_for_no_snapshot(tmp_path: Path) -> None:
    assert start(tmp_path, "exit 1", "taskmanager").stdout == "started: start-foreground\n"
