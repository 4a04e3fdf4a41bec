"""What the stack tells, and to whom."""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]


def test_a_reader_that_has_seen_enough_stops_nothing(tmp_path: Path) -> None:
    done = tmp_path / "done"
    program = f"""\
from pathlib import Path
from stack.report import Report
report = Report()
for number in range(3):
    report.line(f"line {{number}}")
Path({str(done)!r}).touch()
"""
    reader, writer = os.pipe()
    os.close(reader)
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "deploy/local")}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, stdout=writer, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert done.exists()


def test_status_ends_quietly_in_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "stack.toml").write_text(f'state = "{tmp_path / "state"}"\n')
    stack = {"PYTHONPATH": str(REPOSITORY / "deploy/local"), "SLUICE_STACK": str(tmp_path / "stack.toml")}
    pipe = f"'{sys.executable}' -m stack status | true; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", pipe], env=os.environ | stack, capture_output=True, text=True, timeout=60)
    assert ended.stderr == ""
    assert ended.stdout in ("0\n", "1\n")  # what it found, whoever reads it
