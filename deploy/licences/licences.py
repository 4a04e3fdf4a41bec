"""Compares the licences of what the images hold with `accepted.toml`, offline: `make lint` runs it.

`make licences` writes `licences.json`. Exits with 1 where it lacks a locked package or has another, for a licence that
is unknown, or neither permissive nor accepted for this package, and for an acceptance without a package.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from locked import POMS, ROOT, locked, named  # type: ignore[import-not-found]

HERE = Path(__file__).parent
WRITTEN, ACCEPTED = HERE / "licences.json", HERE / "accepted.toml"


def main() -> int:
    document, accepted = json.loads(WRITTEN.read_text()), tomllib.loads(ACCEPTED.read_text())
    wrong = [*missing(document, locked()), *moved(document), *refused(document["packages"], accepted)]
    for fault in wrong:
        print(fault)
    print(f"licences: {len(document['packages'])} packages in images, {len(wrong)} faults")
    return 1 if wrong else 0


def missing(document: Mapping[str, Any], images: Mapping[str, set[str]]) -> Iterator[str]:
    """Locked packages without an entry, and entries that are not locked; of jars, which nothing locks, see `moved`."""
    entries = document["packages"]
    for package in sorted(images.keys() - entries.keys()):
        yield f"{package}: locked, and without an entry: make licences"
    for package in sorted(entries.keys() - images.keys()):
        if not package.startswith("java:"):
            yield f"{package}: has an entry, and is not locked: make licences"
    for package in sorted(images.keys() & entries.keys()):
        if sorted(images[package]) != entries[package]["images"]:
            yield f"{package}: is in {', '.join(sorted(images[package]))}: make licences"


def moved(document: Mapping[str, Any]) -> Iterator[str]:
    """POMs that name other dependencies than those whose tree was read."""
    for pom, profile in POMS.items():
        if sorted(named((ROOT / pom).read_text(), profile)) != document["poms"].get(pom):
            yield f"{pom}: names other jars: make licences"


def refused(packages: Mapping[str, Mapping[str, Any]], accepted: Mapping[str, Any]) -> Iterator[str]:
    """A line for each licence of a package, or of a library in a wheel, that may not be there."""
    permissive, used = set(accepted["permissive"]), set()
    reasons = {(each["licence"], package): each["reason"] for each in accepted["accepted"] for package in each["of"]}
    for package, entry in packages.items():
        for licence in licences(entry["licence"]):
            if licence in permissive:
                continue
            if (licence, package.rpartition("@")[0]) not in reasons:
                yield f"{package}: {licence} in {', '.join(entry['images'])} is not accepted"
            used.add((licence, package.rpartition("@")[0]))
        for library in entry.get("libraries", ()):
            if library not in accepted["libraries"]:
                yield f"{package}: the library {library} in its wheel has no licence in accepted.toml"
                continue
            for licence in licences(accepted["libraries"][library]):
                if licence not in permissive and (licence, library) not in reasons:
                    yield f"{library}: {licence}, in {package}, is not accepted"
                used.add((licence, library))
    for licence, package in sorted(reasons.keys() - used):
        yield f"{package}: {licence} is accepted, and it has none: remove it"


def licences(expression: str) -> list[str]:
    """The licences that an SPDX expression names. All must be accepted: with OR too, whose choice is a reason's."""
    return [each.strip() for each in re.split(r"\bAND\b|\bOR\b|[()]", expression) if each.strip()]


if __name__ == "__main__":
    sys.exit(main())
