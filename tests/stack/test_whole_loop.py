"""The whole loop, with the demo's load three times as fast as it is shipped. The file's name puts it last, since the
demo's decisions stay in the journal."""

import re
import subprocess
from pathlib import Path

from sluice_kit.local_stack.driver import REPOSITORY, Stack
from sluice_kit.local_stack.whole_loop import check_the_loop, demo, running

# tests/soak has the shipped one.
PERIOD_S = 12
# The shipped 138 hardly fill 64 threads in bursts of a second, and a pool that is never full is left alone: a smaller
# size came after 8 to 219 s in 15 simulated runs (a script that is not kept). With 180 it came after 6 to 17 s.
USERS = 180


def test_the_recommended_size_is_applied_read_back_and_raises_goodput(stack: Stack, tmp_path: Path) -> None:
    check_the_loop(stack, tmp_path, PERIOD_S, USERS)


def test_the_commands_of_the_quick_start_run(stack: Stack, tmp_path: Path) -> None:
    """Sections 2 to 4 in their order, without those that start the stack."""
    page = (REPOSITORY / "docs/quick-start.md").read_text()
    sections = page[page.index("## 2.") : page.index("## 5.")]
    lines = re.findall(r"^(?:\./sluice|curl) .*$", sections, re.MULTILINE)
    assert len(lines) == 9
    query = "SELECT request_id FROM actuations WHERE service = 'cart' AND outcome = 'APPLIED' ORDER BY at DESC LIMIT 1"
    written = stack.rows(query)[0]["request_id"]
    try:
        with running("demo", demo(PERIOD_S, USERS), stack, tmp_path):
            for line in lines:
                command = line.replace("127.0.0.1:8090", stack.address["SLUICE_DEMO"]).replace(" ID ", f" {written} ")
                done = subprocess.run(command, shell=True, cwd=REPOSITORY, env=stack.environment, capture_output=True)
                assert done.returncode == 0, (command, done.stderr)
                assert done.stdout, command
    finally:
        stack.sluice("pools", "resume", "cart")
