"""Checks everything that set-up and the stack need before anything is installed, and names all faults together."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from stack import machine, toolchain
from stack.layout import CACHE, SETUP_LOGS
from stack.report import Report
from stack.steps import StepError, run

FRONTEND = {"DEBIAN_FRONTEND": "noninteractive"}


@dataclass(frozen=True)
class Missing:
    """A tool that is absent or of an unfit version, and the Debian package that brings it."""

    tool: str
    fault: str
    package: str

    def __str__(self) -> str:
        return f"{self.tool} ({self.fault})"


def missing_tools(*, maven: bool) -> list[Missing]:
    """Tools that only the system's package manager can bring. Go and npm come from a registry when absent.

    maven: whether a step needs it.
    """
    missing = []
    java, fault = toolchain.find_java()
    if not java:
        oldest, newest = (version[0] for version in toolchain.JAVA)
        package = toolchain.apt_candidate(("openjdk-17-jdk-headless", "openjdk-21-jdk-headless"))
        missing.append(Missing(f"a JDK, Java {oldest} to {newest}", fault, package))
    if maven and (fault := toolchain.maven_fault()):
        missing.append(Missing("Maven 3.6 or later", fault, "maven"))
    if not toolchain.output_of(sys.executable, "-c", "import ensurepip, venv; print(1)"):
        package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        missing.append(Missing("Python's venv", "not found", toolchain.apt_candidate((package, "python3-venv"))))
    return missing


def apt_commands(missing: Sequence[Missing], prefix: Sequence[str]) -> list[list[str]]:
    """The commands that bring all of `missing`; `prefix` gives them root's rights."""
    packages = sorted({tool.package for tool in missing})
    return [
        [*prefix, "apt-get", "update"],
        [*prefix, "apt-get", "install", "-y", "--no-install-recommends", *packages],
    ]


def refusal(reasons: Sequence[str], missing: Sequence[Missing], may_apt: bool) -> StepError | None:
    """An error with all reasons, and the command that installs what is missing; None when nothing is wrong."""
    if not reasons and (may_apt or not missing):
        return None
    faults = [*reasons, *(f"missing: {tool}" for tool in missing)]
    commands = " && ".join(" ".join(words) for words in apt_commands(missing, ["sudo"]))
    return StepError("; ".join(faults), advice=f"run: {commands}" if missing else "mend that, and run the same again")


def link_java() -> None:
    """.cache/java-home, the Java that everything runs on. Raises StepError without one."""
    java, fault = toolchain.find_java()
    if not java:
        raise StepError(f"no JDK: {fault}")
    link = CACHE / "java-home"
    if not link.is_symlink() or link.resolve() != java:
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(java)


def apt_prefix() -> list[str] | None:
    """The words before apt-get: none for root, sudo where it needs no password; None where neither is allowed."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n"]
    return None


def ensure(report: Report, *, installing: bool, maven: bool, reasons: Sequence[str] = ()) -> None:
    """Reports what is scarce, and installs missing tools through apt where that is allowed.

    installing: whether a step of set-up has to run; maven: whether one needs it. reasons: faults that the caller found.
    Raises StepError that names all faults.
    """
    host = machine.here()
    for text in machine.scarce(host):
        report.step("!!", "machine", text)
    missing = missing_tools(maven=maven)
    prefix = apt_prefix() if missing else None
    if error := refusal([*machine.unfit(host, installing=installing), *reasons], missing, prefix is not None):
        raise error
    if missing and prefix is not None:
        log = SETUP_LOGS / "setup-apt.log"
        update, _ = apt_commands(missing, prefix)
        report.step("..", "apt", f"installs what is missing: {'; '.join(map(str, missing))}")
        report.step("..", "apt", " ".join(update))
        run(update, log, env=FRONTEND)
        missing = missing_tools(maven=maven)  # only now apt knows which packages there are
        _, install = apt_commands(missing, prefix)
        report.step("..", "apt", " ".join(install))
        run(install, log, env=FRONTEND)
        if still := missing_tools(maven=maven):
            raise StepError(f"still missing after apt-get: {'; '.join(map(str, still))}", log=log)
    link_java()
