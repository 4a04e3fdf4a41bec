"""The whole loop, with the demo's load three times as fast as it is shipped. The file's name puts it last, since the
demo's decisions stay in the journal."""

from pathlib import Path

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.whole_loop import check_the_loop

# tests/soak has the shipped one.
PERIOD_S = 12


def test_the_recommended_size_is_applied_read_back_and_raises_goodput(stack: Stack, tmp_path: Path) -> None:
    check_the_loop(stack, tmp_path, PERIOD_S)
