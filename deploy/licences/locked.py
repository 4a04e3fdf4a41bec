"""What the images hold, by the files that lock it, offline. A package is a text `KIND:NAME@VERSION`, of kind go, python
or java."""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from packaging.markers import Marker

ROOT = Path(__file__).parents[2]
GO = {
    "server": "recommender/serve",
    "actuator": "actuators",
    "collector": "collector/local",
    "collector-kubernetes": "collector/kubernetes",
}
# A file of names, where the image holds those of the lock only.
PYTHON = {
    "decider": ("deploy/images/decider/requirements.lock", ""),
    "job": ("streaming-jobs/requirements.lock", "deploy/images/job/packages"),
}
# With the profile of Maven, or none.
POMS = {"deploy/local/jars/pom.xml": "flink", "deploy/images/job/pom.xml": "", "streaming-jobs/functions/pom.xml": ""}
IMAGE = {
    "platform_system": "Linux",
    "sys_platform": "linux",
    "python_version": "3.11",
    "python_full_version": "3.11.14",
}
MAVEN = "{http://maven.apache.org/POM/4.0.0}"


def locked() -> dict[str, set[str]]:
    """The images that hold a package, by package; of jars those that a POM of Sluice names."""
    images: dict[str, set[str]] = {}
    for image, module in GO.items():
        for package in modules(ROOT / module):
            images.setdefault(package, set()).add(image)
    for image, (lock, names) in PYTHON.items():
        only = set((ROOT / names).read_text().split()) if names else None
        for package in wheels((ROOT / lock).read_text()):
            if only is None or package.removeprefix("python:").partition("@")[0] in only:
                images.setdefault(package, set()).add(image)
    for pom, profile in POMS.items():
        for dependency in named((ROOT / pom).read_text(), profile):
            images.setdefault(dependency.partition(" without ")[0], set()).add("job")
    return images


def modules(folder: Path) -> Iterator[str]:
    """The modules that go.mod requires, indirectly too: those of tests, which no image holds, are among them."""
    read = subprocess.run(["go", "mod", "edit", "-json"], capture_output=True, text=True, check=True, cwd=folder)
    module = json.loads(read.stdout)
    replaced = {each["Old"]["Path"]: each["New"] for each in module["Replace"] or ()}
    for each in module["Require"] or ():
        held = replaced.get(each["Path"], each)
        if not held["Path"].startswith("."):
            yield f"go:{held['Path']}@{held['Version']}"


def wheels(lock: str) -> Iterator[str]:
    """The packages of a lock of `uv pip compile` that pip installs in an image."""
    for name, version, marker in re.findall(r"^([a-z0-9][\w.-]*)==([^\s;\\]+)(?: ; ([^\\\n]+))?", lock, re.MULTILINE):
        if not marker or Marker(marker.strip()).evaluate(IMAGE):
            yield f"python:{name}@{version}"


def named(pom: str, profile: str) -> Iterator[str]:
    """The dependencies that a POM names for run time, with what it excludes of them: another one needs another tree."""
    root = ET.fromstring(pom)
    properties = {each.tag.removeprefix(MAVEN): each.text or "" for each in root.iterfind(f"{MAVEN}properties/*")}
    chosen = [root, *(each for each in root.iter(f"{MAVEN}profile") if each.findtext(f"{MAVEN}id") == profile)]
    for dependency in (each for part in chosen for each in part.iterfind(f"{MAVEN}dependencies/{MAVEN}dependency")):
        group, artifact, version, scope = (
            re.sub(r"\$\{([^}]+)\}", lambda name: properties[name[1]], dependency.findtext(f"{MAVEN}{field}", ""))
            for field in ("groupId", "artifactId", "version", "scope")
        )
        if scope in ("", "compile", "runtime"):
            excluded = sorted(
                f"{each.findtext(f'{MAVEN}groupId')}:{each.findtext(f'{MAVEN}artifactId')}"
                for each in dependency.iter(f"{MAVEN}exclusion")
            )
            yield f"java:{group}:{artifact}@{version}" + (f" without {' '.join(excluded)}" if excluded else "")
