"""`storefront/restart.sh` begins a program when the one before it has let go of its port, and says why one ended."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sluice_kit.machine.ports import free_ports

RESTART = Path(__file__).with_name("restart.sh")
# After SIGTERM its first thread ends at once, and the process looks like one that has ended; another thread keeps the
# port for a second more, as those of a memcached that ends do for some milliseconds. Until then it tells who it is.
LINGERS = """
import ctypes, os, signal, socket, threading, time
listening = socket.socket()
listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listening.bind(("127.0.0.1", PORT))
listening.listen()
told = threading.Event()
threading.Thread(target=lambda: (told.wait(), time.sleep(1), os._exit(0))).start()
signal.signal(signal.SIGTERM, lambda *_: (told.set(), ctypes.CDLL(None).syscall(EXIT_OF_A_THREAD, 0)))
while True:
    with listening.accept()[0] as caller:
        caller.sendall(str(os.getpid()).encode())
"""
EXIT_OF_A_THREAD = {"x86_64": 60, "aarch64": 93}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (port,) = free_ports(1)
    number = EXIT_OF_A_THREAD[os.uname().machine]
    (tmp_path / "program.py").write_text(LINGERS.replace("PORT", str(port)).replace("EXIT_OF_A_THREAD", str(number)))
    (tmp_path / "run").write_text(f"#!/bin/bash\nexec {sys.executable} {tmp_path}/program.py\n")
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "port").write_text(f"{port}\n")
    (tmp_path / "signal").write_text("TERM\n")
    yield tmp_path
    if (tmp_path / "pid").exists():
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def restart(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([RESTART, folder], capture_output=True, text=True, timeout=120)


def test_a_port_that_the_last_thread_still_has_is_waited_for(folder: Path) -> None:
    results = []
    for _ in range(2):
        answer = restart(folder)
        assert answer.returncode == 0, answer.stderr
        with socket.create_connection(("127.0.0.1", int((folder / "port").read_text())), timeout=60) as connection:
            results.append(connection.recv(100).decode())
        assert results[-1] == (folder / "pid").read_text().strip()
    assert len(set(results)) == 2


def test_what_a_program_said_that_ended_is_told(folder: Path) -> None:
    (folder / "run").write_text("#!/bin/bash\necho no such option >&2\nexit 3\n")
    answer = restart(folder)
    assert answer.returncode == 1
    assert answer.stderr == "no such option\n"
    assert not (folder / "pid").exists()
