"""A tuning session on a real journal and database: decider, Go server and actuator, and an application whose
latency hangs on a file; each of them is killed, and nothing is lost."""

from __future__ import annotations

import json
import math
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import grpc
import pytest
from click.testing import CliRunner

from sluice.cli.main import cli
from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.enough import TrialLength
from sluice.tuning.objective.objective import Objective, TuningSlo
from sluice.tuning.session.message import plan_message, read_message
from sluice.tuning.session.session import MeasuredRoot, Phase, Plan, Session
from sluice.tuning.space import Category, Parameter, Space
from sluice.tuning.space.constraint import Linear
from sluice.tuning.v1 import trial_pb2
from sluice.tuning.v1 import tuning_service_pb2 as api
from sluice.tuning.v1.tuning_service_pb2_grpc import TuningServiceStub
from sluice_kit.decide.tuning_worlds import index_of
from sluice_kit.journal.shard_log import Log, killed, recording, serving_at
from sluice_kit.machine.ports import free_ports
from sluice_kit.programs.decider import Decider
from sluice_kit.servers.clickhouse import ClickHouse
from sluice_kit.servers.kafka import Broker
from sluice_kit.waiting import until

pytestmark = pytest.mark.integration

ACTUATOR = Path(__file__).resolve().parents[4] / ".cache/bin/sluice-actuator"
YAML = "pools: [{service: cart, side: server, threshold: 150ms}]\nperiod: 1s\n"
MS = {"calm": 100.0, "wild": 3_000.0, "fast": 50.0}
PLAN = Plan(
    "first",
    "shop",
    Space((Parameter("mode", Category((*MS, "broken")), "calm", "web"),)),
    Objective(((Metric.P95, 1.0),), (TuningSlo(Metric.P99, 1_000.0),)),
    budget=3,
    pairs=0,
    window=TrialLength(0.0, 2.0, 3.0, 0.2),
    first=({"mode": "wild"}, {"mode": "broken"}, {"mode": "fast"}),
    root=MeasuredRoot("web"),
)

# The same without what is tried first.
APP = """
target: shop
root: {service: web}
parameters: [{name: mode, service: web, kind: category, choices: [calm, wild, fast, broken], default: calm}]
objective: {minimize: {p95_ms: 1}, slos: {p99_ms: 1000}}
budget: 1
pairs: 0
window: {warm_up_s: 0, least_s: 2, most_s: 3}
"""


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
    app = folder / "app.yaml"
    app.write_text(APP)
    started = sluice("start", str(app), "--name", "second", "--warm-start", "first", *parameters, "--apply")
    assert ("trial 1 is the best seen" in started, actuator.mode) == (True, "calm"), started
    sluice("apply", "second", *parameters, "--apply")
    assert actuator.mode == "fast"


def refused(call: Callable[[], object], code: grpc.StatusCode, text: str) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    assert (caught.value.code(), text in (caught.value.details() or "")) == (code, True), caught.value.details()


def bad_input(stub: TuningServiceStub) -> None:
    """While the first session is open, and its trial 0 was told."""
    # Trial 1 first: it is being measured, and has its outcome in some seconds.
    for trial, code in ((1, grpc.StatusCode.INVALID_ARGUMENT), (0, grpc.StatusCode.ALREADY_EXISTS)):
        nan = trial_pb2.Outcome(verdict=trial_pb2.VERDICT_GOOD, value=math.nan)
        tell = api.TellTrialRequest(session="first", trial=trial, outcome=nan)
        refused(
            partial(stub.TellTrial, tell, timeout=60), code, "already has an outcome" if trial == 0 else "legal: -1e"
        )
    again = replace(PLAN, name="second")
    refused(
        lambda: stub.CreateSession(api.CreateSessionRequest(plan=plan_message(again)), timeout=60),
        grpc.StatusCode.FAILED_PRECONDITION,
        "session 'first' is open on 'shop'",
    )
    impossible = replace(again, space=replace(PLAN.space, constraints=(Linear((("mode", 1.0),), at_most=0.0),)))
    refused(
        lambda: stub.CreateSession(api.CreateSessionRequest(plan=plan_message(impossible)), timeout=60),
        grpc.StatusCode.INVALID_ARGUMENT,
        "is not numeric; legal: an integer or float parameter",
    )


def test_a_session_is_applied_measured_and_rolled_back_over_kills_of_everything(
    broker: Broker, database: ClickHouse, tmp_path: Path
) -> None:
    log = Log(broker)
    broker.topic(f"{log.prefix}state", like="sluice_state")
    decider = Decider(tmp_path, database.url, log.bootstrap, log.prefix, YAML)
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    actuator = Actuator(tmp_path, address)
    with application(database, actuator.file), grpc.insecure_channel(address) as channel:
        stub = TuningServiceStub(channel)
        with killed(log, address, tmp_path), decider.running() as process:
            decider.wait_for_log("shard 0 taken")
            stub.CreateSession(api.CreateSessionRequest(plan=plan_message(PLAN)), timeout=60)
            dry = actuator.run()
            assert (dry.returncode, "mode is calm" in dry.stdout, actuator.mode) == (0, True, "calm"), dry
            running = actuator.start()
            until("the default is in force", lambda: "trial 0 is in force" in actuator.said())
            process.kill()
        with serving_at(log, tmp_path, {"SLUICE_RECOMMENDER": address}), decider.running():
            until("the default was measured", lambda: "trial 0: GOOD" in actuator.said())
            until("what does harm is in force", lambda: "trial 1 is in force" in actuator.said())
            running.kill()
            running.wait()
            assert actuator.mode == "wild"
            bad_input(stub)
            running = actuator.start()
            # By the record: on a slow machine it is judged while no actuator runs, which then says nothing of it.
            until("what does harm was judged", lambda: session(stub).trials[1].outcome is not None)
            assert running.wait(60) == 0, actuator.said()
            assert actuator.mode == "calm", "what was in force before the first of both runs"
            ended = session(stub)
            the_command_line(tmp_path, address, actuator)
    verdicts = [trial.outcome.verdict.name for trial in ended.trials if trial.outcome is not None]
    assert (ended.phase, verdicts) == (Phase.DONE, ["GOOD", "UNSAFE", "FAILED", "GOOD"])
    unset = ended.trials[2].outcome
    assert unset is not None
    assert "reload app" in unset.why
    assert ended.recommended == {"mode": "fast"}
    assert abs((ended.trials[3].outcome.value or 0) - 50) < 1  # type: ignore[union-attr]
    with recording(log, database, tmp_path):
        rows = "SELECT number, verdict, parameters['mode'] FROM v_tuning_trials WHERE session = 'first' ORDER BY 1"
        client, modes = database.client("sluice"), ("calm", "wild", "broken", "fast")
        expected = list(zip(range(4), verdicts, modes, strict=True))
        until("trials are in ClickHouse", lambda: client.query(rows).result_rows == expected)
