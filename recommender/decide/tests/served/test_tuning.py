"""A tuning session on a real log and database: decider, Go server and actuator, and an application whose
latency hangs on a file; each of them is killed, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest
from click.testing import CliRunner
from tuning_worlds import index_of

from decider_process import Decider
from shard_log import Log, serving_at
from sluice.cli.main import cli
from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.enough import Window
from sluice.tuning.objective.objective import Objective, Slo
from sluice.tuning.session.message import plan_message, read_message
from sluice.tuning.session.session import Phase, Plan, Root, Session
from sluice.tuning.space import Category, Parameter, Space
from sluice.tuning.v1 import tuning_service_pb2 as api
from sluice.tuning.v1.tuning_service_pb2_grpc import TuningServiceStub
from support.clickhouse import ClickHouse
from support.kafka import Kafka
from support.waiting import until

pytestmark = pytest.mark.integration

ACTUATOR = Path(__file__).resolve().parents[4] / ".cache/bin/sluice-actuator"
YAML = "pools: [{service: cart, side: server, threshold: 150ms}]\nperiod: 1s\n"
MS = {"calm": 100.0, "wild": 3_000.0, "fast": 50.0}
PLAN = Plan(
    "first",
    "shop",
    Space((Parameter("mode", Category((*MS, "broken")), "calm", "web"),)),
    Objective(((Metric.P95, 1.0),), (Slo(Metric.P99, 1_000.0),)),
    budget=3,
    pairs=0,
    window=Window(0.0, 2.0, 20.0, 0.2),
    first=({"mode": "wild"}, {"mode": "broken"}, {"mode": "fast"}),
    root=Root("web"),
)


@contextmanager
def application(database: ClickHouse, file: Path) -> Iterator[None]:
    """100 requests a second, as the pipeline would write them, which take as long as the file says."""
    over = threading.Event()
    client = database.client("sluice")
    columns = ["side", "service", "instance", "bucket", "bucket_ms", "completions", "latency", "version"]

    def work() -> None:
        done_s = int(time.time())
        while not over.wait(0.2):
            mode = file.read_text().partition("=")[2].strip()
            for second in range(done_s, int(time.time())):
                at = datetime.fromtimestamp(second + 0.5, UTC)
                row = ["server", "web", "web-1", at, 100, 100, {index_of(MS.get(mode, 100.0)): 100}, 1]
                client.insert("windows", [row], column_names=columns)
                done_s = second + 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Actuator:
    def __init__(self, folder: Path, address: str) -> None:
        self.file, self.output = folder / "app.conf", folder / "actuator.log"
        self.file.write_text("# of the application\nmode = calm\n")
        (folder / "state").mkdir()
        self.config = folder / "parameters.yaml"
        self.config.write_text(
            f"""
recommender: {address}
target: shop
settle: 2s
state: {folder}/state
parameters:
  - name: mode
    file: {{path: {self.file}, pattern: '^mode = (\\w+)$'}}
    reload: app
reloads:
  - name: app
    command: [sh, -c, "! grep -q broken {self.file}"]
"""
        )

    def run(self, *more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self._command, *more], capture_output=True, text=True, check=False)

    def start(self) -> subprocess.Popen[bytes]:
        with self.output.open("ab") as out:
            return subprocess.Popen([*self._command, "--apply"], stdout=out, stderr=out)

    @property
    def _command(self) -> list[str]:
        return [str(ACTUATOR), "tune", "--config", str(self.config), "--session", "first"]

    @property
    def mode(self) -> str:
        return self.file.read_text().rpartition(" = ")[2].strip()

    def said(self) -> str:
        return self.output.read_text()


def session(stub: TuningServiceStub) -> Session:
    return read_message(stub.GetSession(api.GetSessionRequest(session="first")).session)


def the_command_line(folder: Path, address: str, actuator: Actuator) -> None:
    """Of the session as it ended."""

    def sluice(*words: str) -> str:
        done = CliRunner().invoke(cli, ["tuning", *words, "--address", address])
        assert done.exit_code == 0, done.output
        return done.output

    assert "first    shop    dds     DONE" in sluice("list")
    assert json.loads(sluice("status", "first", "-o", "json"))["session"]["trials"][1]["outcome"]["excess"] > 0
    watched = sluice("watch", "first", "--picture", str(folder / "first.png"))
    assert ("UNSAFE" in watched, "trial 3 is the best seen" in watched) == (True, True), watched
    assert (folder / "first.png").read_bytes().startswith(b"\x89PNG")
    refused = CliRunner().invoke(cli, ["tuning", "stop", "first", "--address", address])
    assert (refused.exit_code, "DONE already" in refused.output) == (1, True)
    parameters = ("--parameters", str(actuator.config))
    assert "mode = fast  (default calm)" in sluice("apply", "first", *parameters)
    assert actuator.mode == "calm", "a dry run"
    sluice("apply", "first", *parameters, "--apply")
    assert actuator.mode == "fast"


def test_a_session_is_applied_measured_and_rolled_back_over_kills_of_everything(
    broker: Kafka, database: ClickHouse, tmp_path: Path
) -> None:
    log = Log(broker)
    broker.topic(f"{log.prefix}state", like="sluice_state")
    decider = Decider(tmp_path, database.url, log.bootstrap, log.prefix, YAML)
    with serving_at(log, tmp_path, {}) as address, grpc.insecure_channel(address) as channel:
        stub, actuator = TuningServiceStub(channel), Actuator(tmp_path, address)
        with application(database, actuator.file):
            with decider.running() as process:
                decider.wait_for_log("shard 0 taken")
                stub.CreateSession(api.CreateSessionRequest(plan=plan_message(PLAN)), timeout=60)
                dry = actuator.run()
                assert (dry.returncode, "mode is calm" in dry.stdout, actuator.mode) == (0, True, "calm"), dry
                running = actuator.start()
                until("the default is in force", lambda: "trial 0 is in force" in actuator.said())
                process.kill()
            with decider.running():
                until("the default was measured", lambda: "trial 0: GOOD" in actuator.said())
                until("what does harm is in force", lambda: "trial 1 is in force" in actuator.said())
                running.kill()
                running.wait()
                assert actuator.mode == "wild"
                running = actuator.start()
                until("it was rolled back", lambda: "trial 1: UNSAFE" in actuator.said())
                assert running.wait(60) == 0, actuator.said()
                assert actuator.mode == "calm", "what was in force before the first of both runs"
                ended = session(stub)
                the_command_line(tmp_path, address, actuator)
    verdicts = [trial.outcome.verdict.name for trial in ended.trials if trial.outcome is not None]
    assert (ended.phase, verdicts) == (Phase.DONE, ["GOOD", "UNSAFE", "FAILED", "GOOD"])
    refused = ended.trials[2].outcome
    assert refused is not None
    assert "reload app" in refused.why
    assert ended.recommended == {"mode": "fast"}
    assert abs((ended.trials[3].outcome.value or 0) - 50) < 1  # type: ignore[union-attr]
