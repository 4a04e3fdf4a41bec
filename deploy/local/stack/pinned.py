"""Fetches an archive that pins.toml names through the npm client, and verifies it before it is unpacked."""

import base64
import hashlib
import platform
import shutil
import tarfile
import tempfile
import tomllib
from pathlib import Path

from stack.layout import CACHE, LOCAL
from stack.steps import StepError, run
from stack.toolchain import npm_path

PINS = LOCAL / "pins.toml"


def integrity_of(data: bytes) -> str:
    """The Subresource Integrity string (W3C SRI) of `data`, with SHA-512."""
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def fetch(name: str, destination: Path, log: Path) -> None:
    """Unpacks the pinned archive `name` into `destination`, which it replaces."""
    pins = tomllib.loads(PINS.read_text())[name]
    machine = platform.machine()
    if machine not in pins:
        raise StepError(
            f"{name} has no archive for {machine}; there is one for {', '.join(pins)}",
            advice=f"add [{name}.{machine}] to {PINS.name}, or use such a machine",
        )
    pin = pins[machine]
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as directory:
        npm = npm_path()
        path = {"PATH": f"{npm.parent}:/usr/local/bin:/usr/bin:/bin"} if npm.is_absolute() else {}
        run([npm, "pack", pin["package"], "--pack-destination", directory], log, cwd=Path(directory), env=path)
        archives = list(Path(directory).glob("*.tgz"))
        if len(archives) != 1:
            raise StepError(f"npm pack {pin['package']} left {len(archives)} archives", log=log)
        if (found := integrity_of(archives[0].read_bytes())) != pin["integrity"]:
            raise StepError(f"{pin['package']} is not what {PINS.name} pins: {found}", log=log)
        unpacked = Path(directory) / "unpacked"
        with tarfile.open(archives[0]) as tar:
            tar.extractall(unpacked, filter="data")
        shutil.rmtree(destination, ignore_errors=True)
        destination.parent.mkdir(parents=True, exist_ok=True)
        (unpacked / "package").rename(destination)
