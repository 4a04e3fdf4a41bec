"""Control groups of version 1: who is in them, their limits and accounts."""

import os
import subprocess
from pathlib import Path

import pytest

from sluice_kit.machine.cgroups import CPU, groups, holding

pytestmark = pytest.mark.skipif(
    not os.access(CPU / "cgroup.procs", os.W_OK), reason="needs cgroups of version 1, as root"
)


def of(pid: int | str) -> str:
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    return next(line.rpartition(":")[2] for line in lines if line.split(":")[1] == "cpu")


def test_what_is_begun_inside_stays_and_is_accounted() -> None:
    mine = of("self")
    with groups(["cart"]) as made:
        cart = made["cart"]
        with cart.inside():
            process = subprocess.Popen(["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; read line"],
                                       stdin=subprocess.PIPE)  # fmt: skip
        assert of("self") == mine
        assert of(process.pid).endswith("/cart")
        cart.limit(0.4)
        assert cart.quota.read_text().strip() == "40000"
        assert cart.cores() == 0.4
        cart.limit(None)
        assert cart.cores() is None
        process.communicate(b"\n", timeout=60)
        assert cart.core_seconds() > 0
    assert not cart.limits.exists()


def test_running_processes_come_back() -> None:
    process = subprocess.Popen(["sh", "-c", "read line"], stdin=subprocess.PIPE)
    with holding([process.pid, 2**22 + 1], 4):
        folder = CPU / of(process.pid).lstrip("/")
        assert (folder / "cpu.shares").read_text().strip() == "4096"
    assert of(process.pid) == "/"
    process.communicate(b"\n", timeout=60)
    assert not folder.exists()
