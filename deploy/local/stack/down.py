"""`down`: the streaming job ends with a savepoint, then every process of the stack ends; nothing stored is lost."""

import contextlib

from stack import processes
from stack.flink import Flink
from stack.http import UnreachableError
from stack.report import Report
from stack.settings import Settings
from stack.steps import StepError
from stack.supervisor import Supervisor

SAVEPOINT_WITHIN_S = 60.0
SHUTDOWN_WITHIN_S = 150.0  # supervisord kills a program that does not end in its stop_within_s
GRACE_S = 30.0


def down(settings: Settings, report: Report) -> None:
    """Raises StepError when a process of the stack cannot be stopped."""
    supervisor = Supervisor(settings)
    before = processes.of_stack(settings.state)
    if not before:
        report.line("nothing is up")
        return
    if supervisor.is_up():
        stop_job(settings, supervisor, report)
        try:
            supervisor.shut_down()
        except UnreachableError as error:  # it may close the connection when it ends
            report.step("..", "supervisor", str(error))
        processes.wait_gone(lambda: processes.of_stack(settings.state), SHUTDOWN_WITHIN_S)
    left = processes.of_stack(settings.state)
    if left:
        report.step("..", "processes", f"{len(left)} left; sending SIGTERM")
        for pid in processes.stop(lambda: processes.of_stack(settings.state), GRACE_S):
            report.step("!!", "processes", f"killed {pid} ({before.get(pid, left.get(pid, '?'))[:80]})")
    if left := processes.of_stack(settings.state):
        raise StepError(
            f"cannot stop {left}", advice="stop them by hand: they are not this user's, or hang in the kernel"
        )
    report.step("ok", "down", f"{len(before)} processes stopped; data stays in {settings.state}")


def stop_job(settings: Settings, supervisor: Supervisor, report: Report) -> None:
    """Best effort: without a savepoint the job goes on from its newest checkpoint, and loses nothing either."""
    flink = Flink(settings)
    with contextlib.suppress(UnreachableError, KeyError):  # a stack for a benchmark has no keeper
        supervisor.stop_process("jobs")  # else it would submit the job again
    try:
        job = flink.running()
        if not job:
            report.step("ok", "streaming job", "was not running")
            return
        report.live("stopping the streaming job with a savepoint")
        savepoint = flink.stop_with_savepoint(job.id, settings.state / "flink/savepoints", SAVEPOINT_WITHIN_S)
        report.step("ok", "streaming job", f"stopped with savepoint {savepoint.rpartition('/')[2]}")
    except (UnreachableError, TimeoutError, KeyError) as error:
        report.step("!!", "streaming job", f"{error}; it will resume from its newest checkpoint")
