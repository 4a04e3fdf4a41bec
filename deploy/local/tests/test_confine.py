"""Landlock: which kinds of access are refused, and that it holds for a process that has called for it."""

import subprocess
import sys
from pathlib import Path

import pytest
from clickhouse.confine import handled

SCRIPT = """
import sys
from pathlib import Path
from clickhouse.confine import confine
inside, outside = map(Path, sys.argv[1:])
print(confine([inside / "read", inside / "gone"], [inside / "write"]))
def tried(action):
    try:
        action()
    except PermissionError:
        return "refused"
    return "done"
print(tried((inside / "read/file").read_text), tried(lambda: (inside / "read/file").write_text("x")))
print(tried(lambda: (inside / "write/file").write_text("x")), tried((inside / "write/file").unlink))
print(tried((outside / "file").read_text), tried(lambda: (outside / "new").write_text("x")))
"""


@pytest.mark.parametrize(("version", "bits"), [(-1, 0), (0, 0), (1, 0x1FFF), (2, 0x3FFF), (3, 0x7FFF), (7, 0x7FFF)])
def test_what_is_handled_is_what_the_kernel_knows(version: int, bits: int) -> None:
    assert handled(version) == bits


def test_only_what_was_named_opens(tmp_path: Path) -> None:
    for folder in ("in/read", "in/write", "out"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "file").write_text("kept")
    words = [sys.executable, "-c", SCRIPT, str(tmp_path / "in"), str(tmp_path / "out")]
    local = Path(__file__).resolve().parents[1]
    done = subprocess.run(words, env={"PYTHONPATH": str(local)}, capture_output=True, text=True, timeout=60)
    confined, *tried = done.stdout.splitlines()
    if confined == "False":
        pytest.skip("this kernel has no Landlock")
    assert tried == ["done refused", "done done", "refused refused"], done.stderr
