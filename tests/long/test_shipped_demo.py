"""The demo as `make up` runs it: its load repeats in 36 s."""

from pathlib import Path

from e2e.test_apply import check_the_loop

from support.stack import Stack
from testbed.presets.shop import PERIOD


def test_the_loop_at_the_shipped_period(stack: Stack, tmp_path: Path) -> None:
    check_the_loop(stack, tmp_path, round(PERIOD))
