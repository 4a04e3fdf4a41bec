"""A real supervisord over small programs: who may talk to it, what it starts again, and how it ends."""

import os
import signal
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stack import ports, processes
from stack.http import UnreachableError
from stack.programs import SOCKET, Program
from stack.settings import Settings, load
from stack.supervisor import Supervisor

PATIENCE_S = 60.0
# Long enough that the socket's whole path would not fit into an address.
LONG = "state-" + "x" * 100


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    found = replace(load({}), state=tmp_path / LONG)
    found.logs.mkdir(parents=True)
    yield found
    processes.stop(lambda: processes.of_stack(found.state), 5.0)


def started(settings: Settings, *programs: Program) -> Supervisor:
    supervisor = Supervisor(settings)
    supervisor.start({program.name: program for program in programs})
    return supervisor


def wait(probe: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not probe():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_only_this_user_may_talk_to_it_and_nobody_over_a_port(settings: Settings) -> None:
    started(settings)
    directory = settings.state / "supervisor"
    assert stat.S_IMODE((directory / SOCKET).stat().st_mode) == 0o600
    assert stat.S_ISSOCK((directory / SOCKET).stat().st_mode)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    pids = set(processes.of_stack(settings.state))
    assert pids
    tables = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
    held = ports.sockets(*(table.read_text() for table in tables)).values()
    listening = [inode for state, inode in held if state == ports.LISTEN]
    assert not pids & set(ports.owners(listening).values())


def test_nothing_runs_before_it_is_started_and_what_is_killed_comes_back(settings: Settings) -> None:
    supervisor = started(settings, Program("sleeper", "", "sleep 1000"))
    assert supervisor.process("sleeper").state == "STOPPED"
    supervisor.start_process("sleeper")
    supervisor.start_process("sleeper")  # once more is no error
    first = supervisor.process("sleeper")
    assert (first.up, first.restarts) == (True, 0)
    assert first.memory_bytes > 0
    os.kill(first.pid, signal.SIGKILL)
    wait(lambda: supervisor.process("sleeper").pid not in (0, first.pid))
    assert supervisor.process("sleeper").restarts == 1
    supervisor.restart_process("sleeper")  # asked for, so not counted
    assert supervisor.process("sleeper").restarts == 1


def test_a_program_that_cannot_stay_up_is_tried_again_and_counted(settings: Settings) -> None:
    supervisor = started(settings, Program("broken", "", "sh -c 'echo out of luck; exit 3'"))
    supervisor.start_process("broken")
    wait(lambda: supervisor.process("broken").restarts >= 1)
    assert "out of luck" in (settings.logs / "broken.log").read_text()


def test_a_start_that_fails_at_once_is_tried_again(settings: Settings) -> None:
    # A log that cannot be opened fails before supervisord answers, as a program does that ends before it looks.
    log = settings.logs / "late.log"
    log.mkdir()
    supervisor = started(settings, Program("late", "", "sleep 1000"))
    supervisor.start_process("late")
    assert not supervisor.process("late").alive
    log.rmdir()
    wait(lambda: supervisor.process("late").alive)


def test_it_outlives_a_full_disk_of_logs(settings: Settings) -> None:
    for log in ("supervisord.log", "talker.log"):
        (settings.logs / log).symlink_to("/dev/full")  # full(4): writing fails with ENOSPC
    script = "sh -c 'yes a line of some length that fills buffers | head -2000; sleep 1000'"
    supervisor = started(settings, Program("talker", "", script))
    supervisor.start_process("talker")
    first = supervisor.process("talker").pid
    os.kill(first, signal.SIGKILL)
    wait(lambda: supervisor.process("talker").pid not in (0, first))
    (settings.logs / "talker.log").unlink()
    supervisor.restart_process("talker")
    assert supervisor.is_up()


def test_it_ends_what_others_need_last(settings: Settings) -> None:
    ended = settings.state / "ended"
    script = "sh -c 'trap \"echo {0} >> {1}; exit\" TERM; while :; do sleep 0.05; done'"
    first = Program("store", "", script.format("store", ended))
    second = Program("reader", "", script.format("reader", ended), after=("store",))
    # What ends is known by the names in programs.toml: these two stand for Kafka and the collector, which needs it.
    supervisor = started(settings, replace(first, name="kafka"), replace(second, name="collector", after=("kafka",)))
    for name in ("kafka", "collector"):
        supervisor.start_process(name)
    time.sleep(0.5)  # until both shells have set their traps
    supervisor.shut_down()
    assert processes.wait_gone(lambda: processes.of_stack(settings.state), PATIENCE_S)
    assert ended.read_text().split() == ["reader", "store"]
    assert not supervisor.is_up()


def test_one_that_is_not_there_says_where_it_was_sought(settings: Settings) -> None:
    with pytest.raises(UnreachableError, match=SOCKET):
        Supervisor(settings).processes()
