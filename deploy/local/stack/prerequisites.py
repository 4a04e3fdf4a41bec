"""What set-up and the stack need of the machine, looked at all at once, before anything is installed."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stack import toolchain
from stack.layout import CACHE
from stack.report import Report
from stack.settings import REPOSITORY
from stack.steps import StepError, run
from stack.toolchain import Missing

DISK_BYTES = 6 * 10**9  # of the repository after `make up`
MEMORY_BYTES = 3 * 2**30  # of the stack with its demo
CORES = 2
FRONTEND = {"DEBIAN_FRONTEND": "noninteractive"}


@dataclass(frozen=True)
class Machine:
    """What is there: sizes in bytes; libc by name, "" where it cannot be told; memory and disk are what is free."""

    system: str
    architecture: str
    libc: str
    cores: int
    memory: int
    disk: int


def here() -> Machine:
    return Machine(
        system=platform.system(),
        architecture=platform.machine(),
        libc=platform.libc_ver()[0],
        cores=os.cpu_count() or 1,
        memory=available_memory(Path("/proc/meminfo")),
        disk=shutil.disk_usage(REPOSITORY).free,
    )


def available_memory(meminfo: Path) -> int:
    """MemAvailable of proc_meminfo(5) in bytes; 0 where it is not told."""
    try:
        lines = meminfo.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)


def unfit(machine: Machine, *, installing: bool) -> list[str]:
    """Why nothing can run on `machine`, or be installed on it; nothing can mend that but another machine."""
    reasons = []
    if machine.system != "Linux" or machine.architecture != "x86_64":
        reasons.append(f"Linux on x86_64 is needed, not {machine.system} on {machine.architecture}")
    elif machine.libc != "glibc":
        reasons.append(f"the C library must be glibc, as in Debian and Ubuntu, not {machine.libc or 'another one'}")
    if installing and machine.disk < DISK_BYTES:
        reasons.append(f"{REPOSITORY} has {gigabytes(machine.disk)} of disk free, {gigabytes(DISK_BYTES)} are needed")
    return reasons


def scarce(machine: Machine) -> list[str]:
    """What makes the stack slow, or have the kernel kill a part of it."""
    warnings = []
    if machine.cores < CORES:
        warnings.append(f"{machine.cores} core: everything takes more than twice as long as on {CORES}")
    if 0 < machine.memory < MEMORY_BYTES:
        warnings.append(f"{gigabytes(machine.memory)} of memory are free, the stack uses {gigabytes(MEMORY_BYTES)}")
    return warnings


def gigabytes(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def missing_tools(*, maven: bool) -> list[Missing]:
    """Tools that only the system's package manager can bring. Go and npm come from a registry when absent.

    maven: whether a step needs it.
    """
    missing = []
    java, found = toolchain.find_java()
    if not java:
        oldest, newest = (version[0] for version in toolchain.JAVA)
        package = toolchain.available(toolchain.JDK_PACKAGES)
        missing.append(Missing(f"a JDK, Java {oldest} to {newest}", found, package))
    if maven and (found := toolchain.lacking_maven()):
        missing.append(Missing("Maven 3.6 or later", found, "maven"))
    if not toolchain.output_of(sys.executable, "-c", "import ensurepip, venv; print(1)"):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        missing.append(
            Missing("Python's venv", "not found", toolchain.available((f"python{version}-venv", "python3-venv")))
        )
    return missing


def apt_commands(missing: Sequence[Missing], prefix: Sequence[str]) -> list[list[str]]:
    """What brings all of `missing`; `prefix` is what root's rights take."""
    packages = sorted({tool.package for tool in missing})
    return [
        [*prefix, "apt-get", "update"],
        [*prefix, "apt-get", "install", "-y", "--no-install-recommends", *packages],
    ]


def refusal(reasons: Sequence[str], missing: Sequence[Missing], may_apt: bool) -> StepError | None:
    """All that stands in the way, and the command that installs what is missing; None when nothing does."""
    if not reasons and (may_apt or not missing):
        return None
    named = [*reasons, *(f"missing: {tool}" for tool in missing)]
    commands = " && ".join(" ".join(words) for words in apt_commands(missing, ["sudo"]))
    return StepError("; ".join(named), advice=f"run: {commands}" if missing else "mend that, and run the same again")


def link_java() -> None:
    """.cache/java-home, the Java that everything runs on. Raises StepError without one."""
    java, found = toolchain.find_java()
    if not java:
        raise StepError(f"no JDK: {found}")
    link = CACHE / "java-home"
    if not link.is_symlink() or link.resolve() != java:
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(java)


def apt_prefix() -> list[str] | None:
    """What goes before apt-get: nothing for root, sudo where it asks no password; None where neither is allowed."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n"]
    return None


def ensure(report: Report, log: Path, *, installing: bool, maven: bool, reasons: Sequence[str] = ()) -> None:
    """Checks everything, says what is scarce, and installs through apt what is missing where that is allowed.

    installing: whether steps of set-up are to be done; maven: whether one of them needs it. reasons: what else stands
    in the way. Raises StepError that names all that does.
    """
    machine = here()
    for text in scarce(machine):
        report.step("!!", "machine", text)
    missing = missing_tools(maven=maven)
    prefix = apt_prefix() if missing else None
    if error := refusal([*unfit(machine, installing=installing), *reasons], missing, prefix is not None):
        raise error
    if missing and prefix is not None:
        update, _ = apt_commands(missing, prefix)
        report.step("..", "apt", f"installs what is missing: {'; '.join(map(str, missing))}")
        report.step("..", "apt", " ".join(update))
        run(update, log, env=FRONTEND)
        missing = missing_tools(maven=maven)  # which package there is, is known now
        _, install = apt_commands(missing, prefix)
        report.step("..", "apt", " ".join(install))
        run(install, log, env=FRONTEND)
        if still := missing_tools(maven=maven):
            raise StepError(f"still missing after apt-get: {'; '.join(map(str, still))}", log=log)
    link_java()
