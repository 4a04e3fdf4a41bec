"""Runs the ClickHouse engine of the shared library libchdb.so as a server, until SIGTERM.

The library exports the engine's own main function of its local mode, which can open the real HTTP and native
listeners: they start with a SYSTEM statement, and stay while a query runs, so the last one never ends.

It logs in as `default` without a password, and has no option for another user. So users.xml allows that user these
statements only.
"""

import argparse
import ctypes
import os
import sys
from pathlib import Path
from xml.etree import ElementTree

from confine import confine  # type: ignore[import-not-found]  # beside this file
from space import end_when_full, wait_for_room  # type: ignore[import-not-found]

START = """\
SYSTEM START LISTEN QUERIES ALL;
SELECT number FROM system.numbers WHERE sleepEachRow(1)
SETTINGS function_sleep_max_microseconds_per_block = 0, max_block_size = 1, max_execution_time = 0
FORMAT Null;
"""

# Python sets LC_CTYPE where no locale is set (PEP 538); without it here, this program would start again for ever.
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SLUICE_SUPERVISED", "SUPERVISOR_PROCESS_NAME")
# The engine reads these of the host: libraries, names and certificates of other hosts, its own use of memory and CPUs.
READABLE = (
    *("/lib", "/lib64", "/usr/lib", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/etc/localtime"),
    *("/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/ssl"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys", "/sys/devices", "/sys/fs/cgroup"),
)
DEVICES = ("/dev/null", "/dev/urandom", "/dev/random")


def forget_environment() -> None:
    """Starts this program again without the caller's variables: queries could read them in /proc/self/environ."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    if len(kept) < len(os.environ):
        os.execve(sys.executable, sys.orig_argv, kept)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, required=True, help="path of libchdb.so")
    parser.add_argument("--config", type=Path, required=True, help="path of the server's config.xml")
    options = parser.parse_args()
    forget_environment()

    queries = options.config.with_name("start.sql")
    queries.write_text(START)
    data = Path(ElementTree.parse(options.config).findtext("path", ""))
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    wait_for_room(data)
    readable = [options.library.resolve().parent, options.config.parent, *map(Path, READABLE)]
    if not confine(readable, [data, *map(Path, DEVICES)]):
        print("this kernel has no Landlock: by file(), a query reads every file that this user can", file=sys.stderr)
    words = ["clickhouse", "--config-file", str(options.config), "--queries-file", str(queries)]
    words += ["--log-level", "warning"]
    arguments = (ctypes.c_char_p * (len(words) + 1))(*(word.encode() for word in words), None)
    engine = ctypes.CDLL(str(options.library))
    engine.query_stable_v2.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    engine.query_stable_v2.restype = ctypes.c_void_p
    end_when_full(data)
    engine.query_stable_v2(len(words), arguments)
    # The engine returns only when it stops: on SIGTERM, or because it could not start.
    return 1


if __name__ == "__main__":
    sys.exit(main())
