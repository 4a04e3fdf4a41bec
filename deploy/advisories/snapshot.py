"""Writes `go.json`: the advisories on Go's standard library and on the modules that Sluice's programs require, from the
copy of Go's vulnerability database that the module proxy serves as golang.org/x/vulndb.

    python deploy/advisories/snapshot.py v0.0.0-20261105234957-e22db6528018
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from check import MODULES, SNAPSHOT  # type: ignore[import-not-found]

ROOT = Path(__file__).parents[2]
DATABASE = "golang.org/x/vulndb"


def main(version: str) -> int:
    answer = subprocess.run(
        ["go", "mod", "download", "-json", f"{DATABASE}@{version}"], capture_output=True, text=True, check=True, cwd="/"
    )
    copy = Path(json.loads(answer.stdout)["Dir"]) / "data/osv"
    used = required() | {"stdlib", "toolchain"}
    read = (json.loads(file.read_text()) for file in sorted(copy.glob("*.json")))
    kept = [reduced(each, used) for each in read if "withdrawn" not in each]
    stamp = version.split("-")[1]
    document = {
        "source": f"{DATABASE}@{version}",
        "date": f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}",
        "modules": sorted(used),
        "advisories": [each for each in kept if each["affected"]],
    }
    lines = [json.dumps(each, separators=(",", ":"), sort_keys=True) for each in document.pop("advisories")]
    head = json.dumps(document, indent=1)[:-2]
    SNAPSHOT.write_text(f'{head},\n "advisories": [\n' + ",\n".join(lines) + "\n ]\n}\n")
    print(f"{len(lines)} advisories on {len(used)} modules, of {document['date']}")
    return 0


def required() -> set[str]:
    """The paths of all modules that the modules of Sluice require, indirectly too."""
    paths: set[str] = set()
    for module in MODULES:
        folder = ROOT / module.partition(":")[0]
        read = subprocess.run(["go", "mod", "edit", "-json"], capture_output=True, text=True, check=True, cwd=folder)
        paths |= {each["Path"] for each in json.loads(read.stdout)["Require"] or ()}
    return paths


def reduced(advisory: dict[str, Any], used: set[str]) -> dict[str, Any]:
    """What govulncheck needs to find and to name it."""
    affected = [
        {key: each[key] for key in ("package", "ranges", "ecosystem_specific") if key in each}
        for each in advisory["affected"]
        if each["package"]["name"] in used
    ]
    return {key: advisory[key] for key in ("id", "modified", "summary", "aliases") if key in advisory} | {
        "affected": affected,
        "database_specific": {"url": f"https://pkg.go.dev/vuln/{advisory['id']}"},
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
