"""`up`: set-up, start, readiness of every process, and the first recommendation."""

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from stack import flink, installs, ports, prerequisites, processes, starting
from stack.first_recommendation import wait_for_recommendation
from stack.layout import CACHE
from stack.report import Report
from stack.settings import Settings
from stack.steps import Runner, Step, StepError
from stack.supervisor import Supervisor
from stack.without_demo import next_steps, without_demo


def set_up(purpose: str, report: Report) -> None:
    """Installs and builds what `purpose`, one of installs.PURPOSES, needs. Raises StepError."""
    runner, steps = Runner(report), installs.steps(purpose)
    with setup_lock(report):
        check_prerequisites(runner, steps, report)
        runner.run(steps)
    report.setup_done()


def check_prerequisites(runner: Runner, steps: Sequence[Step], report: Report, reasons: Sequence[str] = ()) -> None:
    """What the machine must have for those of `steps` that have to run; see prerequisites.ensure."""
    left = [step for step in steps if step.skippable and not runner.current(step)]
    maven = any(step.resource == "maven" for step in left)
    prerequisites.ensure(report, installing=bool(left), maven=maven, reasons=reasons)


@contextmanager
def setup_lock(report: Report) -> Iterator[None]:
    """Waits for another set-up in this repository."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "setup.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report.step("..", "set-up", "waiting for another set-up in this repository")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def up(settings: Settings, report: Report, *, demo: bool, empty: bool = False, apply: Sequence[str] = ()) -> None:
    """Ends with the stack ready, whatever of it was up before. empty: without the demo and its configuration. Raises
    StepError."""
    demo, settings = demo and not empty, without_demo(settings) if empty else settings
    flink.check_options(settings)
    with setup_lock(report):
        _start(settings, report, demo=demo, empty=empty, apply=apply)
    report.setup_done()
    summary(settings, report, demo=demo)
    if demo:
        wait_for_recommendation(settings, report)
    elif empty:
        next_steps(settings, report)


def _start(settings: Settings, report: Report, *, demo: bool, empty: bool, apply: Sequence[str]) -> None:
    """Under the lock of set-up: another `up` that runs at the same time then finds the stack up."""
    supervisor = Supervisor(settings)
    runner, steps, wanted = Runner(report), installs.steps("up"), starting.chosen(demo=demo)
    if supervisor.is_up():
        if apply:
            raise StepError(
                "the stack is up already, and its actuator was started otherwise", advice="`make down` first"
            )
        known = {process.name for process in supervisor.processes()}
        if demo != ("demo" in known) and (demo or empty):
            raise StepError(f"the stack is up {'without' if demo else 'with'} the demo", advice="`make down` first")
        check_prerequisites(runner, steps, report)
        report.step("ok", "supervisor", "is up already; `make down && make up` takes up what changed")
        runner.run(steps)
        wanted = {name: program for name, program in wanted.items() if program.once or name in known}
        runner.run(starting.program_steps(settings, supervisor, wanted, runner.cancelled))
    else:
        stop_orphans(settings, report)
        check_prerequisites(runner, steps, report, port_faults(settings, demo, report))
        start = starting.steps(settings, supervisor, wanted, apply=apply, cancelled=runner.cancelled)
        runner.run(steps + start)


def stop_orphans(settings: Settings, report: Report) -> None:
    """Stops what a killed supervisor left behind: nothing watches or restarts it."""
    left = processes.of_stack(settings.state)
    if left:
        report.step("..", "orphans", f"stopping {len(left)} processes of a supervisor that is gone")
        processes.stop(lambda: processes.of_stack(settings.state), 30.0)


def port_faults(settings: Settings, demo: bool, report: Report) -> list[str]:
    """Why the stack cannot listen on its ports; empty when it can."""
    wanted = {name: port for name, port in settings.ports.items() if demo or name != "demo"}
    taken = ports.taken_for_long(
        lambda: ports.taken(wanted, settings.host),
        lambda taken: report.step("..", "ports", f"{taken}: waiting until it is free, a minute at most"),
    )
    if not taken:
        return []
    advice = (
        "stop those processes, or give the stack other ports: a file with a [ports] table of the keys that"
        " differ from deploy/local/stack.toml, named by SLUICE_STACK"
    )
    return [f"ports: {'; '.join(map(str, taken))} ({advice})"]


def summary(settings: Settings, report: Report, *, demo: bool) -> None:
    at = settings.address
    rows = [
        ("OTLP", f"grpc {at('otlp_grpc')}   http {at('otlp_http')}", "send your traces here"),
        ("recommender", at("recommender"), "gRPC sluice.pools.v1, with reflection"),
        ("decider", f"http://{at('decider')}/metrics", "what it decides, in numbers"),
        ("ClickHouse", f"http {at('clickhouse_http')}   native {at('clickhouse_native')}", "./sluice sql 'SELECT 1'"),
        ("Neo4j", f"bolt://{at('neo4j_bolt')}", "user neo4j; password in secrets/ below"),
        ("Kafka", at("kafka"), "topics otlp_*, and the journal: sluice_*"),
        ("Flink", f"http://{at('flink_rest')}", "the jobs' web interface"),
        *([("demo shop", f"http://{at('demo')}/pools", "its pools, and what sets them")] if demo else []),
        ("actuator", f"http://{at('actuator')}", "health and status"),
        ("logs and data", str(settings.state), ""),
    ]
    report.line()
    for name, address, note in rows:
        report.line(f"  {name:<14} {address:<46} {note}".rstrip())
    report.line()
