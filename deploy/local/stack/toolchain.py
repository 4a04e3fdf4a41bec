"""The compilers and clients that set-up needs: those of the host, else from a registry."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from stack.layout import CACHE, LOCAL
from stack.steps import run

# Flink's start scripts pass JVM options that Java 24 removed.
JAVA = ((17,), (23,))
MAVEN = (3, 6)
GO = (1, 26)

Version = tuple[int, ...]


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
    """The home of the first JDK in range, of JAVA_HOME, PATH and /usr/lib/jvm; else a text that lists the others."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    if on_path := shutil.which("javac"):
        homes.append(Path(on_path).resolve().parents[1])
    homes += sorted(Path("/usr/lib/jvm").glob("*"))
    unfit = []
    for home in dict.fromkeys(home.resolve() for home in homes):
        version = jdk_version(home)
        if version and JAVA[0] <= version[:1] <= JAVA[1]:
            return home, ""
        if version:
            unfit.append(f"{'.'.join(map(str, version))} in {home}")
    return None, "found " + ", ".join(unfit) if unfit else "not found"


def jdk_version(home: Path) -> Version:
    """Of the JDK at `home`, from its file `release`, which every JDK since 9 has; () when there is none."""
    try:
        lines = (home / "release").read_text().splitlines()
    except OSError:
        return ()
    versions = [line for line in lines if line.startswith("JAVA_VERSION=")]
    return version_in(versions[0]) if versions and (home / "bin/javac").exists() else ()


def maven_fault() -> str:
    """What is wrong with Maven, "" when nothing is. Without a Java it prints no version: then its presence counts."""
    version = version_in(output_of("mvn", "-version").partition("Maven")[2])
    if version:
        return "" if version >= MAVEN else f"found {'.'.join(map(str, version))}"
    return "" if shutil.which("mvn") and not find_java()[0] else "not found"


def apt_candidate(packages: Iterable[str]) -> str:
    """The first package that apt can install, else the first."""
    names = list(packages)
    for name in names:
        if (policy := output_of("apt-cache", "policy", name)) and "Candidate: (none)" not in policy:
            return name
    return names[0]


def ensure_go(log: Path) -> None:
    """Go on PATH when it is recent enough, else the registry's build of it in an environment of its own."""
    if version_in(output_of("go", "version")) < GO and version_in(output_of(str(go_path()), "version")) < GO:
        install_locked("go", log)


def ensure_npm(log: Path) -> None:
    if not npm_path().is_absolute():
        install_locked("node", log)


def install_tools(log: Path) -> None:
    """uv and supervisord."""
    install_locked("tools", log)


def install_locked(name: str, log: Path) -> None:
    """A virtual environment with exactly the hashed requirements of deploy/local/bootstrap/NAME.lock."""
    venv = CACHE / "venvs" / name
    run([sys.executable, "-m", "venv", "--clear", venv], log)
    lock = LOCAL / "bootstrap" / f"{name}.lock"
    run([venv / "bin/pip", "install", "--require-hashes", "--no-deps", "-q", "-r", lock], log)


def go_path() -> Path:
    return _program("go", CACHE / "venvs/go/bin/go")


def npm_path() -> Path:
    return _program("npm", CACHE / "venvs/node/bin/npm")


def node_path() -> Path:
    """Beside npm, or the one on PATH."""
    return _program("node", CACHE / "venvs/node/bin/node")


def _program(name: str, installed: Path) -> Path:
    return installed if installed.exists() else Path(shutil.which(name) or name)


def path_with(program: Path) -> dict[str, str]:
    """PATH for a program and what it starts from beside it."""
    return {"PATH": f"{program.parent}:{os.environ['PATH']}"} if program.is_absolute() else {}
