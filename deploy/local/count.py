"""Lines of the repository by room, beside their bars: `make count`, or `python deploy/local/count.py`.

Counted are the lines, empty ones and comments included, of all files that git tracks, as they are in the working tree.
A room is a top-level folder; `/` has the files beside them. The first that fits says what a file is:

lock        versions that a tool resolved: *.lock, go.sum, package-lock.json, and any file below a folder lock-*
generated   git's attribute linguist-generated, or one of the first 5 lines says so ("DO NOT EDIT", "@generated",
            "Generated from", "written by `make generate`"); dashboards/json, *.binpb
data        results of benches (tests/bench/results), *.csv, *.png, *.pem, *.json below a tests folder or examples
document    *.md
test        tests, bench and testbed: below a folder tests, testdata or src/test, *_test.go
source      all else: code, SQL, protobuf, builds, settings

With --check it fails when a total is over its bar.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path, PurePosixPath

REPOSITORY = Path(__file__).resolve().parents[2]
KINDS = ("source", "test", "generated", "lock", "data", "document")
#: Lines at most, by kind; the bars of issue 33.
BARS = {"source": 74_000, "test": 85_000}
TITLES = {"source": "hand-written source", "test": "tests, bench and testbed"}

_MARK = re.compile(r"DO NOT EDIT|@generated|Generated from|written by `make generate`")
_MARKED_LINES = 5
_LOCKS = {"go.sum", "package-lock.json"}


def kind(path: str, beginning: str, generated: bool = False) -> str:
    """One of KINDS. `beginning` is the file's first lines; `generated` that git's attribute says so."""
    file = PurePosixPath(path)
    folders = file.parts[:-1]
    if file.suffix == ".lock" or file.name in _LOCKS or any(folder.startswith("lock-") for folder in folders):
        return "lock"
    if generated or _MARK.search(beginning) or folders == ("dashboards", "json") or file.suffix == ".binpb":
        return "generated"
    if folders[:3] == ("tests", "bench", "results") or file.suffix in (".csv", ".png", ".pem"):
        return "data"
    tests = not {"tests", "testdata"}.isdisjoint(folders) or "src/test/" in path or file.name.endswith("_test.go")
    if file.suffix == ".json" and (tests or "examples" in folders):
        return "data"
    if file.suffix == ".md":
        return "document"
    return "test" if tests else "source"


def counted(folder: Path = REPOSITORY) -> dict[str, Counter[str]]:
    """Lines by room and kind of what git tracks below `folder`, the root of a checkout.

    Raises subprocess.CalledProcessError where it is none.
    """
    paths = [path for path in _git(folder, "ls-files", "-z").split("\0") if path]
    attribute = _git(folder, "check-attr", "-z", "--stdin", "linguist-generated", given="\0".join(paths)).split("\0")
    marked = {path for path, value in zip(attribute[::3], attribute[2::3], strict=False) if value in ("set", "true")}
    rooms: dict[str, Counter[str]] = {}
    for path in paths:
        file = folder / path
        if file.is_symlink() or not file.is_file():
            continue
        content = file.read_bytes()
        beginning = b"\n".join(content.split(b"\n", _MARKED_LINES)[:_MARKED_LINES]).decode(errors="replace")
        room = path.partition("/")[0] if "/" in path else "/"
        rooms.setdefault(room, Counter())[kind(path, beginning, path in marked)] += content.count(b"\n")
    return rooms


def table(rooms: dict[str, Counter[str]]) -> str:
    """A line a room, then the sum, then each total beside its bar."""
    total = sum(rooms.values(), Counter())
    lines = [" " * 16 + "".join(f"{name:>11}" for name in KINDS)]
    for room, counts in [*sorted(rooms.items()), ("sum", total)]:
        lines.append(f"{room:<16}" + "".join(f"{counts[name]:>11,}" for name in KINDS))
    lines.append("")
    lines += [f"{TITLES[name]}: {total[name]:,} (bar {bar:,})" for name, bar in BARS.items()]
    return "\n".join(lines)


def over(rooms: dict[str, Counter[str]]) -> list[str]:
    """The kinds that have more lines than their bar."""
    total = sum(rooms.values(), Counter())
    return [name for name, bar in BARS.items() if total[name] > bar]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="count", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="fail when a total is over its bar")
    options = parser.parse_args()
    rooms = counted()
    print(table(rooms))
    if options.check and (names := over(rooms)):
        sys.exit("over the bar: " + ", ".join(TITLES[name] for name in names))


def _git(folder: Path, *words: str, given: str = "") -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
