"""Which advisories fail `make lint`."""

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from check import Finding, database, faults

NET = Finding("GO-1", "golang.org/x/net@v0.1.0", "server", "v0.2.0")
GO = Finding("GO-2", "stdlib@v1.26.8", "server", "")
ACCEPTED = [
    {"module": "golang.org/x/net@v0.1.0", "programs": ["server"], "advisories": ["GO-1"]},
    {"module": "stdlib", "programs": ["server"], "advisories": ["GO-2", "GO-9"]},
]


def test_what_is_accepted_for_a_version_and_a_program_fails_nothing() -> None:
    assert faults([NET, GO], ACCEPTED) == []


def test_another_advisory_version_or_program_fails() -> None:
    assert faults([NET, GO._replace(advisory="GO-3")], ACCEPTED) == [
        "GO-3: stdlib@v1.26.8 in server, fixed in no version"
    ]
    assert faults([NET._replace(module="golang.org/x/net@v0.1.1"), GO], ACCEPTED) == [
        "GO-1: golang.org/x/net@v0.1.1 in server, fixed in v0.2.0",
        "GO-1: accepted for golang.org/x/net@v0.1.0 in server, and does not apply: remove it",
    ]
    assert len(faults([NET, NET._replace(program="collector")], ACCEPTED)) == 1


def test_an_acceptance_of_gos_own_may_lack_a_finding() -> None:
    assert faults([NET], ACCEPTED) == []


def test_an_advisory_is_in_the_index_of_each_module_that_it_affects(tmp_path: Path) -> None:
    ranges = [{"events": [{"introduced": "0"}, {"fixed": "0.2.0"}, {"introduced": "0.3.0"}, {"fixed": "0.3.4"}]}]
    affected = [{"package": {"name": "a"}, "ranges": ranges}, {"package": {"name": "b"}, "ranges": []}]
    advisory = {"id": "GO-1", "modified": "2026-01-01T00:00:00Z", "affected": affected}
    database(tmp_path, {"date": "2026-01-02", "advisories": [advisory]})
    index = json.loads((tmp_path / "index/modules.json").read_text())
    assert [(module["path"], [vuln["fixed"] for vuln in module["vulns"]]) for module in index] == [
        ("a", ["0.3.4"]),
        ("b", [""]),
    ]
    assert json.loads((tmp_path / "ID/GO-1.json").read_text()) == advisory
