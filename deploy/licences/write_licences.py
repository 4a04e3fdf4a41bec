"""Writes `licences.json`: `make licences`. It reads the files of Go's modules, the metadata of installed wheels and the
POMs of jars. It asks the registries for what the machine lacks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, PackageMetadata, distributions
from pathlib import Path
from typing import Any

from licences import ACCEPTED, HERE, WRITTEN  # type: ignore[import-not-found]
from locked import MAVEN, POMS, ROOT, locked, named  # type: ignore[import-not-found]

TREE = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:tree"
JARS = Path.home() / ".m2/repository"
FILE = re.compile(r"(licen[cs]e|copying|unlicense)", re.IGNORECASE)
UNKNOWN = "unknown"


def main() -> int:
    images, rules = locked(), tomllib.loads(ACCEPTED.read_text())
    jars = {jar for pom, profile in POMS.items() for jar in tree(pom, profile)}
    images |= {f"java:{jar}": {"job"} for jar in jars}
    of = {
        **go_licences([each for each in images if each.startswith("go:")]),
        **{f"java:{jar}": {"licence": _by_name(pom_licences(jar), rules) or UNKNOWN} for jar in jars},
    }
    for venv in ("flink", "sluice"):
        for wheel in distributions(
            path=[str(each) for each in ROOT.glob(f".cache/venvs/{venv}/lib/python3*/site-packages")]
        ):
            key = f"python:{re.sub(r'[-_.]+', '-', wheel.name).lower()}@{wheel.version}"
            if key in images:
                of[key] = wheel_licences(wheel, rules)
    packages = {
        key: {"images": sorted(where)} | of.get(key, {"licence": UNKNOWN}) | _by_hand(rules, key)
        for key, where in sorted(images.items())
    }
    poms = {pom: sorted(named((ROOT / pom).read_text(), profile)) for pom, profile in POMS.items()}
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(each)}" for key, each in packages.items())
    WRITTEN.write_text(f'{{\n "poms": {json.dumps(poms, indent=2)},\n "packages": {{\n{lines}\n }}\n}}\n')
    unknown = [key for key, each in packages.items() if each["licence"] == UNKNOWN]
    print(f"{len(packages)} packages; no licence found: {', '.join(unknown) or 'of none'}")
    return 0


def go_licences(packages: Iterable[str]) -> dict[str, dict[str, Any]]:
    """By the files at a module's root; Go puts its repository's there."""
    names = [each.removeprefix("go:") for each in packages]
    done = subprocess.run(
        ["go", "mod", "download", "-json", *names], capture_output=True, text=True, check=True, cwd="/"
    )
    found, text, decoder = {}, done.stdout.strip(), json.JSONDecoder()
    while text:
        module, end = decoder.raw_decode(text)
        text = text[end:].lstrip()
        files = sorted(each for each in Path(module["Dir"]).iterdir() if FILE.match(each.name) and each.is_file())
        found[f"go:{module['Path']}@{module['Version']}"] = {
            "licence": text_licence("\n".join(each.read_text(errors="replace") for each in files))
        }
    return found


def text_licence(text: str) -> str:
    """The licences whose sentences a text has, by `texts.toml`, as an SPDX expression."""
    words = " ".join(re.sub(r"[^\w.,()'-]+", " ", text).lower().split())
    found = [
        licence
        for licence, of in tomllib.loads((HERE / "texts.toml").read_text()).items()
        if all(each in words for each in of["has"]) and not any(each in words for each in of.get("lacks", ()))
    ]
    return " AND ".join(sorted(found)) or UNKNOWN


def wheel_licences(wheel: Distribution, rules: Mapping[str, Any]) -> dict[str, Any]:
    """By its expression; by the names in its metadata, where each has one meaning; or by its files of licences."""
    data = wheel.metadata
    classes = [each for each in data.get_all("Classifier") or () if each.startswith("License ::")]
    files = [each for each in wheel.files or () if ".dist-info" in str(each) and FILE.match(each.name)]
    licence = (
        _first(data, "License-Expression")
        or _by_name(classes, rules)
        or _by_name([_first(data, "License")], rules)
        or text_licence("\n".join(Path(str(each.locate())).read_text(errors="replace") for each in files))
    )
    libraries = {_library(each.name) for each in wheel.files or () if each.parent.name.endswith(".libs")}
    return {"licence": licence} | ({"libraries": sorted(libraries)} if libraries else {})


def _first(data: PackageMetadata, field: str) -> str:
    return "".join((data.get_all(field) or ())[:1])


def _library(name: str) -> str:
    """libgomp-e985bcbb.so.1.0.0: libgomp."""
    return re.split(r"_?-[0-9a-f]{8}|\.so", name)[0]


def tree(pom: str, profile: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tree"
        command = ["mvn", "-q", "-B", "-f", ROOT / pom, *(["-P", profile] if profile else []), TREE]
        subprocess.run([*command, "-Dscope=runtime", f"-DoutputFile={file}"], check=True)
        lines = [re.sub(r"^[|+\\ -]+", "", line).split(":") for line in file.read_text().splitlines()[1:]]
    return [f"{line[0]}:{line[1]}@{line[-2]}" for line in lines]


def pom_licences(jar: str) -> list[str]:
    """The names in its POM, or in the nearest parent's that has some."""
    group, artifact, version = jar.replace("@", ":").split(":")
    root = ET.parse(JARS / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.pom").getroot()
    if names := [each.findtext(f"{MAVEN}name", "") for each in root.iterfind(f"{MAVEN}licenses/{MAVEN}license")]:
        return names
    if (parent := root.find(f"{MAVEN}parent")) is None:
        return []
    group, artifact, version = (parent.findtext(f"{MAVEN}{each}", "") for each in ("groupId", "artifactId", "version"))
    return pom_licences(f"{group}:{artifact}@{version}")


def _by_name(names: Iterable[str], rules: Mapping[str, Any]) -> str:
    """An expression, or "" where a name is not in the table."""
    found = [rules["names"].get(each.strip(), "") for each in names]
    return " AND ".join(dict.fromkeys(found)) if all(found) else ""


def _by_hand(rules: Mapping[str, Any], package: str) -> dict[str, str]:
    return {"licence": rules["read"][package]} if package in rules["read"] else {}


if __name__ == "__main__":
    sys.exit(main())
