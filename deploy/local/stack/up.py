"""`up`: set-up, start, readiness of every process, and the first recommendation."""

import fcntl
import time
from collections.abc import Sequence

from stack import configs, environment, installs, ports, processes
from stack.first_recommendation import wait_for_recommendation
from stack.http import UnreachableError
from stack.layout import CACHE, SETUP_LOGS, STAMPS
from stack.report import Report
from stack.settings import Settings
from stack.stamps import Stamps
from stack.steps import Runner, StepError
from stack.supervisor import Process, Supervisor

READY_WITHIN_S = 180.0
CRASHES = 8


def set_up(purpose: str, report: Report) -> None:
    """Installs and builds what `purpose` (up, test or lint) needs. Raises StepError."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "setup.lock").open("w") as lock:  # another set-up in this repository is waited for
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report.step("..", "set-up", "waiting for another set-up in this repository")
            fcntl.flock(lock, fcntl.LOCK_EX)
        Runner(Stamps(STAMPS), SETUP_LOGS, report.progress()).run(installs.steps(purpose))
    report.setup_done()


def up(settings: Settings, report: Report, *, demo: bool, apply: Sequence[str] = ()) -> None:
    """Ends with the stack ready, whatever of it was up before. Raises StepError."""
    supervisor = Supervisor(settings)
    already = supervisor.is_up()
    if already and apply:
        raise StepError("the stack is up already, and its actuator was started otherwise", advice="`make down` first")
    if not already:
        stop_orphans(settings, report)
        check_ports(settings, demo)
    set_up("up", report)
    if already:
        report.step("ok", "supervisor", "is up already; `make down && make up` takes up changed code or configuration")
        heal(supervisor, report)
    else:
        start(settings, supervisor, report, demo=demo, apply=apply)
    wait_ready(settings, supervisor, report)
    summary(settings, report)
    if demo:
        wait_for_recommendation(settings, report)


def stop_orphans(settings: Settings, report: Report) -> None:
    """Stops what a killed supervisor left behind: it could be neither watched nor restarted."""
    left = processes.of_stack(settings.state)
    if left:
        report.step("..", "orphans", f"stopping {len(left)} processes of a supervisor that is gone")
        processes.stop(lambda: processes.of_stack(settings.state), 30.0)


def check_ports(settings: Settings, demo: bool) -> None:
    wanted = {name: port for name, port in settings.ports.items() if demo or name != "demo"}
    taken = ports.taken(wanted, settings.host)
    if taken:
        raise StepError(
            "ports: " + "; ".join(map(str, taken)),
            advice="stop those processes, or give the stack other ports: a file with a [ports] table of the keys that"
            " differ from deploy/local/stack.toml, named by SLUICE_STACK",
        )


def start(settings: Settings, supervisor: Supervisor, report: Report, *, demo: bool, apply: Sequence[str]) -> None:
    settings.logs.mkdir(parents=True, exist_ok=True)
    configs.write(settings)
    (settings.state / "env").write_text(environment.as_shell(environment.addresses(settings)))
    configs.format_storage(settings)
    supervisor.start(demo=demo, apply=apply)
    report.step("ok", "supervisor", f"process-compose on {settings.address('supervisor')}")


def heal(supervisor: Supervisor, report: Report) -> None:
    for process in supervisor.processes():
        if process.failed:
            report.step("..", process.name, f"was {process.status.lower()}, starting it again")
            supervisor.start_process(process.name)


def wait_ready(settings: Settings, supervisor: Supervisor, report: Report) -> None:
    """Reports each process as it becomes ready. Raises StepError for one that fails or is not ready in time."""
    deadline = time.monotonic() + READY_WITHIN_S
    reported: set[str] = set()
    while True:
        try:
            listed = supervisor.processes()
        except UnreachableError as error:
            raise StepError(f"the supervisor is gone: {error}", log=settings.logs / "process-compose.log") from error
        for process in listed:
            if process.up and process.name not in reported:
                reported.add(process.name)
                report.step("ok", process.name, ready_text(settings, process))
        waiting = [process for process in listed if not process.up]
        if not waiting:
            return
        broken = next((process for process in waiting if hopeless(process)), None)
        if broken or time.monotonic() > deadline:
            process = broken or waiting[0]
            why = f"exited with {process.exit_code}" if broken else f"is not ready after {READY_WITHIN_S:.0f} s"
            raise StepError(
                f"{process.name} {why}",
                log=settings.logs / f"{process.name}.log",
                advice="read the log; what did start goes on running: `make status` shows it, `make up` tries again,"
                " `make down` stops it",
            )
        report.live(f"waiting for: {', '.join(process.name for process in waiting)}")
        time.sleep(0.3)


def hopeless(process: Process) -> bool:
    """Ended for good by its own fault, or started again and again in vain."""
    return (process.failed and process.status != "Skipped") or process.restarts >= CRASHES


WHERE = {
    "kafka": ("Kafka", "{}", "kafka"),
    "clickhouse": ("ClickHouse", "http://{}", "clickhouse_http"),
    "neo4j": ("Neo4j", "bolt://{}", "neo4j_bolt"),
    "collector": ("OTLP/gRPC", "{}", "otlp_grpc"),
    "flink-jobmanager": ("Flink UI", "http://{}", "flink_rest"),
    "recommender": ("recommender (gRPC)", "{}", "recommender"),
    "demo": ("demo shop", "http://{}", "demo"),
    "actuator": ("actuator", "http://{}", "actuator"),
}


def ready_text(settings: Settings, process: Process) -> str:
    if process.name in WHERE:
        what, form, port = WHERE[process.name]
        return f"{what} at {form.format(settings.address(port))}"
    return "done" if process.status == "Completed" else "running"


def summary(settings: Settings, report: Report) -> None:
    at = settings.address
    rows = [
        ("OTLP", f"grpc {at('otlp_grpc')}   http {at('otlp_http')}", "send your traces here"),
        ("recommender", at("recommender"), "gRPC sluice.v1, with reflection"),
        ("ClickHouse", f"http {at('clickhouse_http')}   native {at('clickhouse_native')}", "./sluice sql 'SELECT 1'"),
        ("Neo4j", f"bolt://{at('neo4j_bolt')}", "user neo4j; password in the stack file"),
        ("Kafka", at("kafka"), "topics otlp_spans, otlp_metrics, otlp_dead_letter"),
        ("Flink", f"http://{at('flink_rest')}", "the jobs' web interface"),
        ("demo shop", f"http://{at('demo')}/pools", "its pools, and what sets them"),
        ("actuator", f"http://{at('actuator')}", "health and status"),
        ("logs and data", str(settings.state), ""),
    ]
    report.line()
    for name, address, note in rows:
        report.line(f"  {name:<14} {address:<46} {note}".rstrip())
    report.line()
