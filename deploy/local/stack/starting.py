"""The steps that start the stack: configuration, storage, supervisor, and each program as soon as it can."""

import shlex
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from stack import configs, environment, private, programs, readiness
from stack.broken_files import remedy, size
from stack.http import UnreachableError
from stack.programs import Program
from stack.settings import REPOSITORY, Settings
from stack.steps import Action, Step, StepError, run
from stack.supervisor import Process, Supervisor

READY_WITHIN_S = 600.0
PROBE_S = 0.2
LOOK_S = 2.0  # between questions to supervisord about a program that is not ready
CRASHES = 5
ADVICE = "read the log; the others run on: `make status` shows them, `make up` tries again, `make down` stops them"


def chosen(*, demo: bool, only: Sequence[str] = ()) -> dict[str, Program]:
    """The programs to start: `only` these and what they wait for, or all; the demo if `demo`."""
    known = programs.load()
    return programs.selected(known, [name for name in only or known if demo or name != "demo"])


def steps(
    settings: Settings,
    supervisor: Supervisor,
    wanted: Mapping[str, Program],
    *,
    apply: Sequence[str] = (),
    cancelled: threading.Event,
) -> list[Step]:
    """A step for each of `wanted`, and before them those that prepare the stack and start its supervisor."""
    first = [
        Step("configuration", "configuration of the servers", lambda _log: configure(settings), after=("flink-home",)),
        Step("supervisor", "supervisord", lambda _log: supervisor.start(dict(wanted), apply),
             after=("tools", "configuration")),
        Step("kafka-storage", "storage of kafka", lambda _log: configs.format_kafka(settings),
             after=("kafka-jars", "configuration")),
        Step("neo4j-storage", "storage of neo4j", lambda _log: configs.format_neo4j(settings),
             after=("neo4j-jars", "configuration")),
    ]  # fmt: skip
    unwanted = {f"{name}-storage" for name in ("kafka", "neo4j") if name not in wanted}
    return [step for step in first if step.name not in unwanted] + program_steps(
        settings, supervisor, wanted, cancelled
    )


def program_steps(
    settings: Settings, supervisor: Supervisor, wanted: Mapping[str, Program], cancelled: threading.Event
) -> list[Step]:
    """A step for each of `wanted`, which does nothing for one that is up."""
    return [
        Step(
            program.name,
            description(settings, program),
            once(settings, program) if program.once else server(settings, supervisor, program, cancelled),
            after=("supervisor", *program.after),
        )
        for program in wanted.values()
    ]


def configure(settings: Settings) -> None:
    settings.logs.mkdir(parents=True, exist_ok=True)
    configs.write(settings)
    private.write(settings.state / "env", environment.as_shell(environment.addresses(settings)))


def description(settings: Settings, program: Program) -> str:
    """What a program is and where it answers."""
    address = program.shown.format(**{name: settings.address(name) for name in settings.ports})
    return f"{program.does} at {address}" if address else program.does


def once(settings: Settings, program: Program) -> Action:
    def action(_log: Path) -> None:
        variables = environment.supervised(settings, {})
        words = shlex.split(programs.expanded(program.command, variables))
        run(words, settings.logs / f"{program.name}.log", cwd=REPOSITORY, env=variables)

    return action


def server(settings: Settings, supervisor: Supervisor, program: Program, cancelled: threading.Event) -> Action:
    """Starts it, and waits until it is ready. Its step fails when it ends CRASHES times, or is not ready in time."""
    log = settings.logs / f"{program.name}.log"

    def action(_log: Path) -> None:
        begins = size(log)
        try:
            supervisor.start_process(program.name)
            restarts = supervisor.process(program.name).restarts
            deadline, look = time.monotonic() + READY_WITHIN_S, time.monotonic() + LOOK_S
            while not readiness.answers(program.ready, settings):
                if time.monotonic() > look:
                    look = time.monotonic() + LOOK_S
                    if fault := hopeless(supervisor.process(program.name), restarts):
                        raise StepError(fault, log=log, advice=remedy(log, begins) or ADVICE)
                if time.monotonic() > deadline:
                    raise StepError(f"does not answer after {READY_WITHIN_S:.0f} s", log=log, advice=ADVICE)
                if cancelled.wait(PROBE_S):
                    raise StepError("not waited for", log=log, advice=ADVICE)
        except UnreachableError as error:
            raise StepError(str(error), log=supervisor.log, advice=ADVICE) from error

    return action


def hopeless(process: Process, restarts_before: int) -> str:
    """Why a program that is not ready will not become so; "" while it may."""
    if process.state == "FATAL":
        return "cannot be started"
    if (ended := process.restarts - restarts_before) >= CRASHES:
        return f"ended {ended} times, the last time with exit code {process.exit_code}"
    return ""
