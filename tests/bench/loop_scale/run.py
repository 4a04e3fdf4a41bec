"""One process after the other, and their rows."""

import json
import subprocess
import sys

POOLS, FOUND_POOLS, QUICK_POOLS = 10_000, 6_000, 1_000


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    rows: list[tuple[str, str]] = []
    for source, pools in (("memory", POOLS), ("clickhouse", POOLS), ("found", FOUND_POOLS), ("limited", POOLS)):
        command = [sys.executable, "-m", "bench.loop_scale", source, str(QUICK_POOLS if quick else pools)]
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        rows += [(what, figure) for what, figure in json.loads(output.splitlines()[-1])]
    return rows
