"""`up`: set-up, start, readiness of every process, and the first recommendation."""

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from stack import flink, installs, ports, prerequisites, processes, starting
from stack.first_recommendation import wait_for_recommendation
from stack.layout import CACHE, SETUP_LOGS, STAMPS
from stack.report import Report
from stack.settings import Settings
from stack.stamps import Stamps
from stack.steps import Runner, Step, StepError
from stack.supervisor import Supervisor


def set_up(purpose: str, report: Report) -> None:
    """Installs and builds what `purpose`, one of installs.PURPOSES, needs. Raises StepError."""
    runner = Runner(Stamps(STAMPS), SETUP_LOGS, report.progress())
    with alone(report):
        require(runner, installs.steps(purpose), report)
        runner.run(installs.steps(purpose))
    report.setup_done()


def require(runner: Runner, steps: Sequence[Step], report: Report, reasons: Sequence[str] = ()) -> None:
    """What the machine must have for `steps`, at once; see prerequisites.ensure."""
    left = [step for step in steps if (step.inputs or step.values) and not runner.current(step)]
    maven = any(step.resource == "maven" for step in left)
    prerequisites.ensure(report, SETUP_LOGS / "setup-apt.log", installing=bool(left), maven=maven, reasons=reasons)


@contextmanager
def alone(report: Report) -> Iterator[None]:
    """Another set-up in this repository is waited for."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "setup.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report.step("..", "set-up", "waiting for another set-up in this repository")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def up(settings: Settings, report: Report, *, demo: bool, apply: Sequence[str] = ()) -> None:
    """Ends with the stack ready, whatever of it was up before. Raises StepError."""
    flink.check_options(settings)
    supervisor = Supervisor(settings)
    already = supervisor.is_up()
    if already and apply:
        raise StepError("the stack is up already, and its actuator was started otherwise", advice="`make down` first")
    if not already:
        stop_orphans(settings, report)
    runner = Runner(Stamps(STAMPS), SETUP_LOGS, report.progress())
    wanted = starting.chosen(demo=demo)
    with alone(report):
        require(runner, installs.steps("up"), report, [] if already else taken_ports(settings, demo, report))
        if already:
            report.step("ok", "supervisor", "is up already; `make down && make up` takes up what changed")
            runner.run(installs.steps("up"))
            known = {process.name for process in supervisor.processes()}
            wanted = {name: program for name, program in wanted.items() if program.once or name in known}
            runner.run(starting.program_steps(settings, supervisor, wanted, runner.cancelled))
        else:
            start = starting.steps(settings, supervisor, wanted, apply=apply, cancelled=runner.cancelled)
            runner.run(installs.steps("up") + start)
    report.setup_done()
    summary(settings, report)
    if demo:
        wait_for_recommendation(settings, report)


def stop_orphans(settings: Settings, report: Report) -> None:
    """Stops what a killed supervisor left behind: it could be neither watched nor restarted."""
    left = processes.of_stack(settings.state)
    if left:
        report.step("..", "orphans", f"stopping {len(left)} processes of a supervisor that is gone")
        processes.stop(lambda: processes.of_stack(settings.state), 30.0)


def taken_ports(settings: Settings, demo: bool, report: Report) -> list[str]:
    """Why the stack cannot listen where it should; empty when it can."""
    wanted = {name: port for name, port in settings.ports.items() if demo or name != "demo"}
    taken = ports.taken_for_long(
        lambda: ports.taken(wanted, settings.host),
        lambda what: report.step("..", "ports", f"{what}: waiting until it is free, a minute at most"),
    )
    if not taken:
        return []
    way_out = (
        "stop those processes, or give the stack other ports: a file with a [ports] table of the keys that"
        " differ from deploy/local/stack.toml, named by SLUICE_STACK"
    )
    return [f"ports: {'; '.join(map(str, taken))} ({way_out})"]


def check_ports(settings: Settings, demo: bool, report: Report) -> None:
    """Raises StepError for ports that are taken."""
    if taken := taken_ports(settings, demo, report):
        raise StepError(taken[0])


def summary(settings: Settings, report: Report) -> None:
    at = settings.address
    rows = [
        ("OTLP", f"grpc {at('otlp_grpc')}   http {at('otlp_http')}", "send your traces here"),
        ("recommender", at("recommender"), "gRPC sluice.pools.v1, with reflection"),
        ("decider", f"http://{at('decider')}/metrics", "what it decides, in numbers"),
        ("ClickHouse", f"http {at('clickhouse_http')}   native {at('clickhouse_native')}", "./sluice sql 'SELECT 1'"),
        ("Neo4j", f"bolt://{at('neo4j_bolt')}", "user neo4j; password in secrets/ below"),
        ("Kafka", at("kafka"), "topics otlp_*, and the log: sluice_*"),
        ("Flink", f"http://{at('flink_rest')}", "the jobs' web interface"),
        ("demo shop", f"http://{at('demo')}/pools", "its pools, and what sets them"),
        ("actuator", f"http://{at('actuator')}", "health and status"),
        ("logs and data", str(settings.state), ""),
    ]
    report.line()
    for name, address, note in rows:
        report.line(f"  {name:<14} {address:<46} {note}".rstrip())
    report.line()
