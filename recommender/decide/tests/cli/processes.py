"""The command line as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
#: Runs the words behind it as the command line does, then tells on standard error what was imported.
_TELL = """\
import sys
from sluice.cli.main import main
try:
    main()
finally:
    print("imported:", *sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLUICE_", "_SLUICE_"))}
    return kept | {"PYTHONPATH": str(SOURCE)} | variables


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "sluice.cli", *words]


def interruptible(*words: str) -> list[str]:
    """As `command`, where SIGINT is ignored too, as a shell hands it on to what it runs in its background.

    Not by `preexec_fn`: with it Popen forks, and a process with gRPC's threads may stand still then.
    """
    return ["env", "--default-signal=INT", *command(*words)]


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env=environment(**variables), capture_output=True, text=True, timeout=60, check=False)


def imported(*words: str, **variables: str) -> set[str]:
    """The top-level packages that the command imported."""
    done = run(sys.executable, "-c", _TELL, *words, **variables)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("imported: "), done.stderr
    return set(last.split()[1:])
