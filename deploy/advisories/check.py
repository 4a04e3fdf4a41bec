"""Compares the modules of Sluice's Go programs with the advisories in `go.json`, offline: `make lint` runs it.

govulncheck compares the version of each required module, and of Go as it is installed here. `accepted.toml` has the
advisories that do not fail the check, with a reason. Exits with 1 for others, and for accepted ones that do not apply.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
SNAPSHOT, ACCEPTED = HERE / "go.json", HERE / "accepted.toml"
GOVULNCHECK = "golang.org/x/vuln/cmd/govulncheck@v1.9.0"
# FOLDER:PACKAGE with a main package, or a package of a library.
MODULES = (
    "recommender/serve:./cmd/sluice-server",
    "actuators:./cmd/sluice-actuator",
    "actuators/handlers/go:.",
    "collector/local:.",
    "collector/kubernetes:.",
)


class Finding(NamedTuple):
    """An advisory that applies to a module, as MODULE@VERSION, of a program. fixed: in which version; "" in none."""

    advisory: str
    module: str
    program: str
    fixed: str


def main() -> int:
    snapshot, accepted = json.loads(SNAPSHOT.read_text()), tomllib.loads(ACCEPTED.read_text())["accepted"]
    with tempfile.TemporaryDirectory() as folder:
        database(Path(folder), snapshot)
        found = [finding for module in MODULES for finding in findings(module, folder)]
    wrong = faults(found, accepted)
    for fault in wrong:
        print(fault)
    ids = {finding.advisory for finding in found}
    print(
        f"advisories on Go of {snapshot['date']}: {len(ids)} apply, {len(wrong)} faults;"
        " those on Python, Java and npm are not compared: no registry serves them"
    )
    return 1 if wrong else 0


def faults(found: Iterable[Finding], accepted: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each finding that is not accepted, and for each acceptance without a finding. Of Go itself, whose
    version is the machine's, an acceptance holds for every version and may lack findings."""
    legal = {
        (advisory, "stdlib" if each["module"] == "stdlib" else each["module"], program)
        for each in accepted
        for advisory in each["advisories"]
        for program in each["programs"]
    }
    keys = {(each.advisory, each.module if _name(each) != "stdlib" else "stdlib", each.program): each for each in found}
    new = [
        f"{each.advisory}: {each.module} in {each.program}, fixed in {each.fixed or 'no version'}"
        for key, each in keys.items()
        if key not in legal
    ]
    stale = [
        f"{advisory}: accepted for {module} in {program}, and does not apply: remove it"
        for advisory, module, program in legal - keys.keys()
        if module != "stdlib"
    ]
    return sorted(new) + sorted(stale)


def _name(finding: Finding) -> str:
    return finding.module.partition("@")[0]


def database(folder: Path, snapshot: dict[str, Any]) -> None:
    """Writes the advisories as govulncheck reads them (https://go.dev/doc/security/vuln/database)."""
    modules: dict[str, list[dict[str, str]]] = {}
    (folder / "ID").mkdir()
    (folder / "index").mkdir()
    for advisory in snapshot["advisories"]:
        (folder / "ID" / f"{advisory['id']}.json").write_text(json.dumps(advisory))
        for path in {each["package"]["name"] for each in advisory["affected"]}:
            entry = {"id": advisory["id"], "modified": advisory["modified"], "fixed": fixed(advisory, path)}
            modules.setdefault(path, []).append(entry)
    index = [{"path": path, "vulns": entries} for path, entries in sorted(modules.items())]
    (folder / "index/modules.json").write_text(json.dumps(index))
    (folder / "index/db.json").write_text(json.dumps({"modified": f"{snapshot['date']}T00:00:00Z"}))


def fixed(advisory: dict[str, Any], path: str) -> str:
    """The last version that fixed it in a module; "" where none did."""
    events = (
        event
        for each in advisory["affected"]
        if each["package"]["name"] == path
        for ranges in each.get("ranges", ())
        for event in ranges["events"]
    )
    return "".join([event["fixed"] for event in events if "fixed" in event][-1:])


def findings(module: str, folder: str) -> Iterator[Finding]:
    """Raises CalledProcessError where the tool fails."""
    where, _, package = module.partition(":")
    command = ["go", "run", GOVULNCHECK, "-db", Path(folder).as_uri(), "-scan", "module", "-format", "json"]
    done = subprocess.run(
        [*command, "-C", HERE.parents[1] / where / package], capture_output=True, text=True, check=True, cwd="/"
    )
    decoder, text = json.JSONDecoder(), done.stdout.strip()
    while text:
        message, end = decoder.raw_decode(text)
        text = text[end:].lstrip()
        if finding := message.get("finding"):
            trace = finding["trace"][0]
            name = f"{trace['module']}@{trace['version']}"
            yield Finding(finding["osv"], name, where, finding.get("fixed_version", ""))


if __name__ == "__main__":
    sys.exit(main())
