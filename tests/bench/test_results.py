"""What the repository keeps of a bench."""

import os
import signal
import time
from pathlib import Path

import pytest

from bench import __main__ as command
from bench.results import keep


def test_a_table_and_its_pictures_are_kept_together(tmp_path: Path) -> None:
    for name in ("x", "other"):
        (tmp_path / f"{name}.png").write_bytes(name.encode())
    kept = keep("x", "![x](x.png)\n", tmp_path, tmp_path / "kept")
    assert [path.name for path in kept] == ["x.md", "x.png"]
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["x.md", "x.png"]
    assert (tmp_path / "kept/x.png").read_bytes() == b"x"


def test_a_bench_that_is_killed_stops_what_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = []

    def run(quick: bool) -> str:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
        finally:
            stopped.append("server")
        return ""

    monkeypatch.setitem(command.BENCHMARKS, "rest", run)
    monkeypatch.setattr("sys.argv", ["bench", "rest"])
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit) as end:
            command.main()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (end.value.code, stopped) == (143, ["server"])
