"""How commands end: readers that go away, a full disk, Ctrl-C at any moment."""

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sluice.common.v1.decision_pb2 import Reason
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import PoolSize

from .pool_server import PoolServer
from .processes import command, environment
from .test_doctor import closed

#: A process in the background of a shell has SIGINT ignored; a test may be one.
INTERRUPTIBLE = """\
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def without_reader(*words: str, **variables: str) -> tuple[int, bytes]:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command(*words), env=environment(**variables), stdout=writer, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.parametrize("line", ["--help", "pools list", "pools list -o yaml", "completion zsh"])
def test_a_reader_that_has_seen_enough_is_no_failure(line: str, pool_server: PoolServer) -> None:
    assert without_reader(*line.split(), SLUICE_RECOMMENDER=pool_server.address) == (0, b"")


def test_doctor_says_what_it_found_by_its_exit_code_all_the_same() -> None:
    assert without_reader("doctor", **closed()) == (1, b"")


def test_a_full_disk_is_an_error_in_words(pool_server: PoolServer) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command("pools", "list", "-o", "json"),
            env=environment(SLUICE_RECOMMENDER=pool_server.address),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (1, b"Error: cannot write the result: No space left on device\n")


def start(words: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """With modules of `folder` in place of installed ones."""
    path = f"{environment()['PYTHONPATH']}{os.pathsep}{folder}"
    return subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *words],
        env=environment(PYTHONPATH=path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_ctrl_c_within_an_import_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "grpc.py").write_text("import time; print('importing', flush=True); time.sleep(60)")
    process = start(["-m", "sluice.cli", "pools", "list"], tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == b"importing\n"
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (-signal.SIGINT, b"")


def test_what_must_be_put_right_is_put_right_first(tmp_path: Path) -> None:
    program = """\
import time
from sluice.cli.exit import die_of_interrupts, unwinding
die_of_interrupts()
with unwinding():
    try:
        print("begun", flush=True)
        time.sleep(60)
    finally:
        print("put right", flush=True)
"""
    process = start(["-c", program], tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error) == (-signal.SIGINT, b"put right\n", b"")


def test_on_a_terminal_a_table_fits_it(pool_server: PoolServer) -> None:
    size = PoolSize(pool=Pool(service="cart", side=SIDE_SERVER), reasons=[Reason(code="R", text="word " * 60)])
    pool_server.explanations = [Explanation(pool_size=size)]
    mine, its = pty.openpty()
    variables = environment(SLUICE_RECOMMENDER=pool_server.address, COLUMNS="100", TERM="xterm", LINES="40")
    done = subprocess.run(command("pools", "list"), env=variables, stdout=its, stderr=subprocess.PIPE, timeout=60)
    os.close(its)
    shown = b""
    while chunk := _read(mine):
        shown += chunk
    os.close(mine)
    assert (done.returncode, done.stderr) == (0, b"")
    text = shown.decode().replace("\r\n", "\n")
    plain = [line for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines() if line.strip()]
    assert len(plain) > 3
    assert max(map(len, plain)) <= 100
    assert " ".join(plain).count("word") == 60
    assert "HOLDS UP" not in plain[0]  # beside it the reasons would have two characters of room


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # EIO: nobody has its other end any more
        return b""
