"""Limits on the CPU of a process: what is written to either version of control groups, and what a real one does."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.cpu_limit import CpuLimit, cpu_limit, cpu_seconds


def test_version_2_has_one_file(tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("max 100000")
    limit = CpuLimit(tmp_path)
    limit.set(0.3)
    assert (tmp_path / "cpu.max").read_text() == "30000 100000"
    limit.set(None)
    assert (tmp_path / "cpu.max").read_text() == "max 100000"


def test_version_1_has_two(tmp_path: Path) -> None:
    limit = CpuLimit(tmp_path)
    limit.set(1.5)
    assert (tmp_path / "cpu.cfs_quota_us").read_text() == "150000"
    assert (tmp_path / "cpu.cfs_period_us").read_text() == "100000"
    limit.set(None)
    assert (tmp_path / "cpu.cfs_quota_us").read_text() == "-1"


def test_where_none_can_be_made_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot make the control group"), cpu_limit(os.getpid(), tmp_path / "none"):
        pass


def test_a_busy_process_is_held_at_its_limit() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            with cpu_limit(busy.pid) as limit:
                limit.set(0.1)
                before, began = cpu_seconds(busy.pid), time.monotonic()
                time.sleep(1.0)
                used = cpu_seconds(busy.pid) - before
                # One period more may be used than the limit has in the time; a busy machine only takes away.
                assert used <= 0.1 * (time.monotonic() - began) + 0.03
        except OSError as cause:
            pytest.skip(str(cause))
        finally:
            busy.kill()
