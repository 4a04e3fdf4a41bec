"""The steps that start the stack: configuration, storage, supervisor, and each program as soon as it can."""

import shlex
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from stack import configs, environment, private, programs, readiness
from stack.http import UnreachableError
from stack.programs import Program
from stack.settings import REPOSITORY, Settings
from stack.steps import Step, StepError, run
from stack.supervisor import Process, Supervisor

READY_WITHIN_S = 180.0
PROBE_S = 0.2
LOOK_S = 2.0  # at the supervisor, while a program does not answer
CRASHES = 5
ADVICE = (
    "read the log; what did start goes on running: `make status` shows it, `make up` tries again, `make down` stops it"
)


def chosen(*, demo: bool, only: Sequence[str] = ()) -> dict[str, Program]:
    """The programs to start: `only` these and what they wait for, or all; the demo where it is wanted."""
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
    ]  # fmt: skip
    for name, format_storage in (("kafka", configs.format_kafka), ("neo4j", configs.format_neo4j)):
        if name in wanted:
            storage = partial(_format, format_storage, settings)
            first.append(
                Step(f"{name}-storage", f"storage of {name}", storage, after=(f"{name}-jars", "configuration"))
            )
    return first + program_steps(settings, supervisor, wanted, cancelled)


def program_steps(
    settings: Settings, supervisor: Supervisor, wanted: Mapping[str, Program], cancelled: threading.Event
) -> list[Step]:
    """A step for each of `wanted`, which does nothing for one that is up."""
    return [
        Step(
            program.name,
            says(settings, program),
            once(settings, program) if program.once else server(settings, supervisor, program, cancelled),
            after=("supervisor", *program.after),
        )
        for program in wanted.values()
    ]


def _format(format_storage: Callable[[Settings], None], settings: Settings, _log: Path) -> None:
    format_storage(settings)


def configure(settings: Settings) -> None:
    settings.logs.mkdir(parents=True, exist_ok=True)
    configs.write(settings)
    private.write(settings.state / "env", environment.as_shell(environment.addresses(settings)))


def says(settings: Settings, program: Program) -> str:
    """What a program is and where it answers."""
    where = program.shown.format(**{name: settings.address(name) for name in settings.ports})
    return f"{program.does} at {where}" if where else program.does


def once(settings: Settings, program: Program) -> Callable[[Path], None]:
    def action(_log: Path) -> None:
        variables = environment.supervised(settings, {})
        words = shlex.split(programs.expanded(program.command, variables))
        run(words, settings.logs / f"{program.name}.log", cwd=REPOSITORY, env=variables)

    return action


def server(
    settings: Settings, supervisor: Supervisor, program: Program, cancelled: threading.Event
) -> Callable[[Path], None]:
    """Starts it, and waits until it answers. Its step fails when it ends time after time, or does not answer at all."""
    log = settings.logs / f"{program.name}.log"

    def action(_log: Path) -> None:
        try:
            supervisor.start_process(program.name)
            before = supervisor.process(program.name).restarts
            deadline, look = time.monotonic() + READY_WITHIN_S, time.monotonic() + LOOK_S
            while not readiness.answers(program.ready, settings):
                if time.monotonic() > look:
                    look = time.monotonic() + LOOK_S
                    if trouble := hopeless(supervisor.process(program.name), before):
                        raise StepError(trouble, log=log, advice=ADVICE)
                if time.monotonic() > deadline:
                    raise StepError(f"does not answer after {READY_WITHIN_S:.0f} s", log=log, advice=ADVICE)
                if cancelled.wait(PROBE_S):
                    raise StepError("not waited for", log=log, advice=ADVICE)
        except UnreachableError as error:
            raise StepError(str(error), log=supervisor.log, advice=ADVICE) from error

    return action


def hopeless(process: Process, restarts_before: int) -> str:
    """Why a program that does not answer will not; "" while it may."""
    if process.state == "FATAL":
        return "cannot be started"
    if (ended := process.restarts - restarts_before) >= CRASHES:
        return f"ended {ended} times, the last time with exit code {process.exit_code}"
    return ""
