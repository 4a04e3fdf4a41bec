"""`sluice reload`, on small programs that read a file, take SIGHUP and count as deciders and actuators do."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest
from click.testing import Result

from sluice.cli.reload.programs import running

# As `python -m sluice.decider` and `sluice-actuator`: a file with "bad" in it is not legal, one with "late" is refused
# all the same, one with "more" is taken in part.
FAKE = """
import http.server, os, signal, sys
words = sys.argv[1:]
path = words[words.index("--config") + 1]
if "--check" in words:
    bad = "bad" in open(path).read()
    print(f"{path}: min: 0" if bad else f"{path}: valid: 1 target", file=sys.stderr if bad else sys.stdout)
    sys.exit(2 if bad else 0)
counts = {"taken": 0, "partly": 0, "refused": 0}

def reload(*_):
    text = open(path).read()
    counts["refused" if "late" in text else "partly" if "more" in text else "taken"] += 1

class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        if self.path == "/status":
            self.wfile.write(open("status.json", "rb").read())
            return
        for outcome, count in counts.items():
            self.wfile.write(f'sluice_fake_reloads_total{{outcome="{outcome}"}} {count}\\n'.encode())
        self.wfile.write(b"sluice_decider_pools 3.0\\n")

    def log_message(self, *_): pass

signal.signal(signal.SIGHUP, reload)
host, port = os.environ["SLUICE_HEALTH"].split(":")
http.server.HTTPServer((host, int(port)), Pages).serve_forever()
"""
Run = Callable[..., Result]


@contextmanager
def program(words: list[str | Path], state: str) -> Iterator[subprocess.Popen[bytes]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | {"SLUICE_SUPERVISED": state, "SLUICE_HEALTH": f"127.0.0.1:{port}"}
    folder = str(Path(words[-1]).parent)
    process = subprocess.Popen(words, env=environment | {"PYTHONPATH": folder}, cwd=folder)
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=60).close()
                break
            except ConnectionRefusedError:
                assert process.poll() is None
                time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Path]:
    """A decider and an actuator with the state folder `tmp_path`, and their files sluice.yaml and actuator.yaml."""
    (tmp_path / "sluice/decider").mkdir(parents=True)
    for path in ("sluice/__init__.py", "sluice/decider/__init__.py"):
        (tmp_path / path).touch()
    for path in ("sluice/decider/__main__.py", "fake.py"):
        (tmp_path / path).write_text(FAKE)
    (tmp_path / "sluice.yaml").write_text("pools: [{service: cart, side: server, threshold: 9ms}]")
    (tmp_path / "actuator.yaml").touch()
    (tmp_path / "status.json").write_text('{"targets": []}')
    actuator = tmp_path / "sluice-actuator"
    actuator.symlink_to(sys.executable)
    decider = [sys.executable, "-m", "sluice.decider", "--config", tmp_path / "sluice.yaml"]
    with (
        program(decider, str(tmp_path)),
        program([actuator, "fake.py", "--config", tmp_path / "actuator.yaml"], str(tmp_path)),
    ):
        yield tmp_path


def test_legal_files_are_taken_and_what_they_have_is_told(run: Run, stack: Path) -> None:
    done = run("reload", SLUICE_STATE=str(stack))
    assert done.exit_code == 0, done.output
    first, second = sorted(done.output.splitlines())
    assert first.startswith("actuator (pid ")
    assert first.endswith(f"took {stack}/actuator.yaml: 1 target")
    assert second.endswith(f"took {stack}/sluice.yaml: 1 pools, 0 SLOs")


def test_targets_that_the_actuator_cannot_read_are_counted(run: Run, stack: Path) -> None:
    row = {"name": "cart.rows", "instance": "cart-1", "pool": {"service": "cart", "side": "server", "peer": ""}}
    targets = [row | {"read_error": "status 401"}, row | {"read_error": "status 401"}, row | {"read_at": "2026-03-01"}]
    for shown, text in ((targets, "2 targets"), (targets[1:], "1 target")):
        (stack / "status.json").write_text(json.dumps({"targets": shown}))
        done = run("reload", SLUICE_STATE=str(stack))
        assert f"actuator.yaml: 1 target; {text} cannot be read: see ./sluice doctor\n" in done.output
    (stack / "status.json").write_text("not the page of an actuator")
    assert "actuator.yaml: 1 target\n" in run("reload", SLUICE_STATE=str(stack)).output


def test_a_target_that_is_not_read_yet_is_waited_for(run: Run, stack: Path) -> None:
    row = {"name": "cart.rows", "instance": "cart-1", "pool": {"service": "cart", "side": "server", "peer": ""}}
    (stack / "status.json").write_text(json.dumps({"targets": [row]}))
    (stack / "read.json").write_text(json.dumps({"targets": [row | {"read_error": "status 401"}]}))
    Timer(0.5, os.replace, [stack / "read.json", stack / "status.json"]).start()
    assert "1 target cannot be read" in run("reload", SLUICE_STATE=str(stack)).output


def test_pools_that_spans_show_are_counted_by_the_decider(run: Run, stack: Path) -> None:
    (stack / "sluice.yaml").write_text("pools: auto")
    assert "sluice.yaml: pools: auto, 0 SLOs; it decides 3 pools now\n" in run("reload", SLUICE_STATE=str(stack)).output
    (stack / "sluice.yaml").write_text("pools: [{service: cart, side: server, threshold: 9ms}]\ndiscovery: {}")
    assert "1 pools and those found, 0 SLOs; it decides 3 " in run("reload", SLUICE_STATE=str(stack)).output


def test_a_fault_is_one_problem(run: Run, stack: Path) -> None:
    (stack / "sluice.yaml").write_text("pools: [{service: cart, side: server, threshold: -1ms}]")
    done = run("reload", SLUICE_STATE=str(stack))
    assert done.exit_code == 1
    assert "problems" not in done.output
    assert done.output.startswith("Nothing changed: every process keeps its old configuration.\nError: decider (pid ")


def test_a_bad_file_changes_nothing_in_any_process(run: Run, stack: Path) -> None:
    (stack / "sluice.yaml").write_text("pools: [{service: cart, side: server, threshold: -1ms}]")
    (stack / "actuator.yaml").write_text("bad")
    done = run("reload", SLUICE_STATE=str(stack))
    assert done.exit_code == 1
    assert "pools[0].threshold: '-1ms' is not legal; legal: > 0 ms" in done.output
    assert "actuator.yaml: min: 0" in done.output
    assert "2 problems" in done.output
    assert "Nothing changed" in done.output
    (stack / "sluice.yaml").write_text("pools: [{service: cart, side: server, threshold: 8ms}]")
    assert "Nothing changed" in run("reload", SLUICE_STATE=str(stack)).output
    (stack / "actuator.yaml").write_text("more")
    done = run("reload", SLUICE_STATE=str(stack))
    assert done.exit_code == 0, done.output
    assert "1 pools, 0 SLOs" in done.output
    assert "1 target; other sections than `targets` changed and count from its next start" in done.output


def test_a_file_that_the_process_refuses_is_a_failure(run: Run, stack: Path) -> None:
    (stack / "actuator.yaml").write_text("late")
    done = run("reload", SLUICE_STATE=str(stack))
    assert done.exit_code == 1
    assert "took" in done.output
    assert f"refused {stack}/actuator.yaml: its log has the cause; the old configuration stays" in done.output


def test_a_process_that_does_not_answer_yet_gets_no_signal(run: Run, tmp_path: Path) -> None:
    """While it starts, a signal would end it."""
    (tmp_path / "sluice-actuator").symlink_to(sys.executable)
    (tmp_path / "late.py").write_text("import sys, time; '--check' in sys.argv or time.sleep(600)")
    words = [tmp_path / "sluice-actuator", tmp_path / "late.py", "--config", tmp_path / "actuator.yaml"]
    environment = os.environ | {"SLUICE_SUPERVISED": str(tmp_path), "SLUICE_HEALTH": "127.0.0.1:1"}
    with subprocess.Popen(words, env=environment, cwd=tmp_path) as process:
        try:
            while process.poll() is None and not running(str(tmp_path)):  # /proc has its words a moment after exec
                time.sleep(0.01)
            done = run("reload", SLUICE_STATE=str(tmp_path))
            ended = process.poll()
        finally:
            process.kill()
    assert (done.exit_code, ended) == (1, None)
    assert "nothing changed" in done.output


def test_without_processes_of_the_stack_it_says_where_to_look(run: Run, tmp_path: Path) -> None:
    done = run("reload", SLUICE_STATE=str(tmp_path))
    assert done.exit_code == 1
    assert "make up" in done.output
    assert "kubectl exec" in done.output


def test_a_deciders_own_processes_and_other_programs_are_left_out(tmp_path: Path) -> None:
    def process(pid: int, parent: int, *words: str) -> None:
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "cmdline").write_bytes("".join(f"{word}\0" for word in words).encode())
        (folder / "environ").write_bytes(b"HOME=/\0SLUICE_HEALTH=0.0.0.0:9464\0")
        (folder / "stat").write_text(f"{pid} (a) b) S {parent}" + " 1" * 18)
        (folder / "cwd").symlink_to("/etc")

    process(1, 0, "/python", "-m", "sluice.decider", "--config", "sluice.yaml")
    process(7, 1, "/python", "-m", "sluice.decider", "--config", "sluice.yaml")
    process(8, 1, "/python", "-m", "sluice.decider", "--config", "sluice.yaml", "--check")
    process(9, 0, "/sluice-actuator", "--config=/a.yaml", "--apply", "all")
    process(10, 0, "/sluice-actuator", "health")
    process(11, 0, "/sluice-actuator", "tune", "--config", "a.yaml")
    process(12, 0)  # between fork and exec, or ended and not yet waited for
    found = running("", tmp_path)
    assert [(each.kind, each.pid, str(each.file)) for each in found] == [
        ("decider", 1, "/etc/sluice.yaml"),
        ("actuator", 9, "/a.yaml"),
    ]
    assert running("/another/stack", tmp_path) == []
