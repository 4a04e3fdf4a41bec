"""The heap of a JVM after its newest collection, from a log that it is told to write while it runs."""

import re
import subprocess
from pathlib import Path

from stack.layout import java_home

MIB = 1 << 20
_LINE = re.compile(r"\] GC\(\d+\) Pause .* \d+M->(\d+)M\(\d+M\)")


def begin(pid: int, log: Path) -> None:
    """Has the process write a line for each collection to `log`, at most 10 MB of them."""
    told = f"output={log}", "output_options=filecount=1,filesize=10M", "what=gc=info"
    words = [str(java_home() / "bin/jcmd"), str(pid), "VM.log", *told]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=60)


def after_newest(lines: str) -> int | None:
    """Bytes of the heap after the last collection of a log; None while there is none."""
    found = _LINE.findall(lines)
    return int(found[-1]) * MIB if found else None
