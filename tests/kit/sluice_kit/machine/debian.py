"""Programs out of Debian's packages, unpacked into .cache/debian: nothing is installed or started, nobody is root."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sluice_kit.local_stack.driver import REPOSITORY

PLACE = REPOSITORY / ".cache/debian"
#: With what they depend on and this machine lacks.
PACKAGES = ("nginx", "memcached", "redis-server", "nftables")
PROGRAMS = {
    "nginx": "usr/sbin/nginx",
    "memcached": "usr/bin/memcached",
    "redis-server": "usr/bin/redis-server",
    "nft": "usr/sbin/nft",
}


def unpacked() -> Path:
    """The folder, which is fetched at the first call. FileNotFoundError: the machine has no apt-get."""
    if all((PLACE / program).exists() for program in PROGRAMS.values()):
        return PLACE
    if shutil.which("apt-get") is None:
        raise FileNotFoundError(f"fetch {', '.join(PACKAGES)}: no apt-get here; this bench needs Debian or Ubuntu")
    shutil.rmtree(PLACE, ignore_errors=True)
    new = PLACE.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    for name in ("state/lists/partial", "cache/archives/partial", "root"):
        (new / name).mkdir(parents=True)
    _apt(new, ["update"])
    _apt(new, ["install", "--yes", "--reinstall", "--download-only", "--no-install-recommends", *PACKAGES])
    for package in sorted((new / "cache/archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, new / "root"], check=True)
    os.replace(new / "root", PLACE)
    shutil.rmtree(new)
    return PLACE


def command(program: str) -> list[str]:
    """That runs one of PROGRAMS, with the libraries that came along."""
    here = unpacked()
    return ["env", f"LD_LIBRARY_PATH={here / 'usr/lib/x86_64-linux-gnu'}", str(here / PROGRAMS[program])]


def _apt(folder: Path, words: Sequence[str]) -> None:
    """With lists and packages of its own; what the machine has installed is known all the same."""
    options = {
        "Dir::State": folder / "state",
        "Dir::State::status": "/var/lib/dpkg/status",
        "Dir::Cache": folder / "cache",
        "Debug::NoLocking": "1",
        "APT::Sandbox::User": "root",
        "APT::Update::Error-Mode": "any",  # else lists that cannot be fetched are an empty list of packages
    }
    settings = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    done = subprocess.run(["apt-get", "-q", *settings, *words], capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f"apt-get {' '.join(words)}: {(done.stderr or done.stdout)[-2000:]}")
