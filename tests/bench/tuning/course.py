"""One session from its creation to its answer; what it came to is a JSON document."""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import yaml

from bench.results import OUT
from bench.tuning.parameters import ROOT, Parameter, Yaml, application, settings
from sluice.cli.tuning.text import phase_text, value_text, verdict_text
from sluice.tuning.v1 import tuning_service_pb2 as api
from sluice.tuning.v1.session_pb2 import TuningSession
from sluice.tuning.v1.trial_pb2 import Purpose
from sluice.tuning.v1.tuning_service_pb2_grpc import TuningServiceStub
from sluice_kit.applications.real_load import command, going
from sluice_kit.applications.real_scene import recommender
from sluice_kit.applications.storefront import Storefront, storefront
from sluice_kit.local_stack.driver import REPOSITORY, Stack, started
from sluice_kit.machine.cores import confined, pinned, split
from stack import processes

Found = dict[str, Any]
USERS, THINK_MS = 60, 300.0
# Of load before a session: JVMs compile meanwhile, and a pipeline that was just started is a minute behind.
WARM_UP_S, CURRENT_S, LATE_S, LONGEST_START_S = 40.0, 20, 4.0, 600.0
LONGEST_S = 3_600.0
_NEWEST = f"""
    SELECT dateDiff('millisecond', max(bucket), now64(3)) / 1000 AS late_s FROM windows
    WHERE side = 'server' AND service = '{ROOT}' AND bucket > now() - INTERVAL 1 HOUR
"""
CONFIG = "pools: [{service: orders, side: server, threshold: 250ms, bounds: {min: 2, max: 200}}]\n"


@dataclass
class _Scene:
    stack: Stack
    at: Storefront
    recommender: str
    others: set[int]
    folder: Path

    def sluice(self, *words: str) -> str:
        """What it prints. RuntimeError: it failed."""
        done = subprocess.run(self._line(words), env=self._environment, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise RuntimeError(f"sluice {' '.join(words)}: {done.stderr}")
        return done.stdout

    def followed(self, *words: str) -> None:
        """It prints as it goes on. RuntimeError: it failed. What it began ends with it."""
        process = subprocess.Popen(self._line(words), env=self._environment)
        try:
            code = process.wait(LONGEST_S)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)  # `pinned` made it a group of its own
                process.wait(60)
        if code:
            raise RuntimeError(f"sluice {' '.join(words)} ended with exit code {code}")

    @property
    def _environment(self) -> dict[str, str]:
        return self.stack.environment | {"SLUICE_RECOMMENDER": self.recommender}

    def _line(self, words: Sequence[str]) -> list[str]:
        return pinned(self.others, [REPOSITORY / "sluice", *words])


def ran(space: str, parameters: Collection[Parameter], method: str, seed: int, quick: bool) -> Found:
    """A session on an application that was begun for it."""
    name = f"{space}-{method}-{seed}".replace("_", "-")
    with _here(name) as here, _load(here, seed) as rates:
        app, sets = _files(here, application(parameters, method, seed, quick), parameters)
        picture = OUT / f"tuning-real-{'quick-' if quick else ''}{name}.png"
        words = ("tuning", "start", app, "--name", name, "--parameters", sets, "--apply")
        here.followed(*words, "--picture", str(picture))
        return {
            "space": space, "method": method, "seed": seed, "parameters": [parameter.name for parameter in parameters],
            "session": _session(here.recommender, name), "users": rates(),
        }  # fmt: skip


def proposed(parameters: Collection[Parameter], seconds: float) -> Found:
    """What `./sluice tuning space` says of the application with its defaults: {kept, left_out, table}. By the rule for
    full cores, as the application has one: each service's wait for it is over critical_path's millisecond."""
    with _here("space") as here, _load(here, 1):
        app, _ = _files(here, application(parameters, "dds", 1), parameters)
        time.sleep(seconds)
        words = ("tuning", "space", app, "--rule", "bottleneck", "--seconds", str(max(10, round(seconds))))
        result: Found = json.loads(here.sluice(*words, "-o", "json"))
        table = here.sluice(*words)
        print(table, flush=True)
        return {**result, "table": table}


@contextmanager
def _here(name: str) -> Iterator[_Scene]:
    """The application and a recommender of its own, on a stack that is up."""
    stack = started()
    core, others = split()
    with tempfile.TemporaryDirectory() as directory, ExitStack() as up:
        folder = Path(directory)
        config = folder / "sluice.yaml"
        config.write_text(CONFIG)
        up.enter_context(confined([os.getpid(), *processes.of_stack(Path(stack.address["SLUICE_STATE"]))], others))
        logs = OUT / "tuning-real-logs" / name
        logs.mkdir(parents=True, exist_ok=True)
        at = up.enter_context(storefront({core}, others, stack.address["SLUICE_OTLP_GRPC"], logs))
        address = up.enter_context(recommender(stack, others, logs, config))
        yield _Scene(stack, at, address, others, folder)


@contextmanager
def _load(here: _Scene, seed: int) -> Iterator[Callable[[], list[Found]]]:
    """Users for the length of the block; gives what tells what they saw so far, second by second."""
    lines = here.folder / "users.jsonl"
    words = command(here.at.page, ROOT, "steady", USERS, LONGEST_S, "", seed)

    def rates() -> list[Found]:
        whole = lines.read_text().rpartition("\n")[0]
        return [item for item in map(json.loads, whole.splitlines()) if "at" in item]

    with going(here.others, [*words, "--think-ms", f"{THINK_MS:g}"], lines):
        time.sleep(WARM_UP_S)
        _until_current(here.stack)
        yield rates


def _until_current(stack: Stack) -> None:
    """Until what users do shows within `LATE_S`, for so many seconds in a row. RuntimeError: it does not."""
    began, current = time.monotonic(), 0
    while current < CURRENT_S:
        time.sleep(1)
        late_s = float(stack.rows(_NEWEST)[0]["late_s"])
        current = current + 1 if late_s < LATE_S else 0
        if time.monotonic() - began > LONGEST_START_S:
            raise RuntimeError(f"the pipeline is {late_s:.0f} s behind after {LONGEST_START_S:.0f} s")
    print(f"the pipeline was current after {WARM_UP_S + time.monotonic() - began:.0f} s", flush=True)


def _files(here: _Scene, app: Yaml, parameters: Collection[Parameter]) -> tuple[str, str]:
    """The application's file and the actuator's."""
    result = here.folder / "app.yaml", here.folder / "parameters.yaml"
    for path, content in zip(result, (app, settings(parameters, here.at, here.recommender)), strict=True):
        path.write_text(yaml.safe_dump(content, sort_keys=False, width=1_000))
    return str(result[0]), str(result[1])


def _session(address: str, name: str) -> Found:
    with grpc.insecure_channel(address) as channel:
        answer = TuningServiceStub(channel).GetSession(api.GetSessionRequest(session=name), timeout=20)
    return kept(answer.session)


def kept(session: TuningSession) -> Found:
    """What the table needs of a session. Times in Unix seconds."""
    default = {setting.parameter: setting.value for setting in session.trials[0].configuration.settings}
    gain = session.gain
    return {
        "phase": phase_text(session),
        "why": session.why,
        "gain": [gain.share, gain.lower, gain.upper] if session.HasField("gain") else None,
        "seconds": session.ended_at.ToSeconds() - session.created_at.ToSeconds(),
        "trials": [
            {
                "number": trial.number,
                "purpose": Purpose.Name(trial.purpose).removeprefix("PURPOSE_"),
                "confirms": trial.confirms if trial.HasField("confirms") else None,
                "verdict": verdict_text(trial),
                "value": trial.outcome.value if trial.outcome.HasField("value") else None,
                "why": trial.outcome.why,
                "applied_s": trial.applied_at.ToSeconds() if trial.HasField("applied_at") else None,
                "changed": {
                    setting.parameter: value_text(setting.value)
                    for setting in trial.configuration.settings
                    if default.get(setting.parameter) != setting.value
                },
            }
            for trial in session.trials
        ],
    }
