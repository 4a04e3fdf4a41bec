"""Runs the ClickHouse engine of the shared library libchdb.so as a server, until SIGTERM.

The library exports the engine's own main function of its local mode, which can open the real HTTP and native
listeners: they start with a SYSTEM statement, and stay while a query runs, so the last one never ends.
"""

import argparse
import ctypes
import sys
from pathlib import Path

START = """\
SYSTEM START LISTEN QUERIES ALL;
SELECT sleepEachRow(1) FROM system.numbers
SETTINGS function_sleep_max_microseconds_per_block = 0, max_block_size = 1, max_execution_time = 0
FORMAT Null;
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, required=True, help="path of libchdb.so")
    parser.add_argument("--config", type=Path, required=True, help="path of the server's config.xml")
    options = parser.parse_args()

    queries = options.config.with_name("start.sql")
    queries.write_text(START)
    words = [
        "clickhouse",
        "--config-file",
        str(options.config),
        "--queries-file",
        str(queries),
        "--log-level",
        "warning",
    ]
    arguments = (ctypes.c_char_p * (len(words) + 1))(*(word.encode() for word in words), None)
    engine = ctypes.CDLL(str(options.library))
    engine.query_stable_v2.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    engine.query_stable_v2.restype = ctypes.c_void_p
    engine.query_stable_v2(len(words), arguments)
    # The engine returns only when it stops: on SIGTERM, or because it could not start.
    return 1


if __name__ == "__main__":
    sys.exit(main())
