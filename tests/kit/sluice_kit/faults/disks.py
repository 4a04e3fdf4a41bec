"""A disk of its own for a directory, which can be filled, or stand still. Needs root and loop devices."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

BLOCK = 4096


@dataclass(frozen=True)
class Disk:
    """An ext4 file system in the sparse file `image`, mounted at `place`."""

    place: Path
    image: Path

    @contextmanager
    def full(self) -> Iterator[None]:
        """Not a block is free within: writing fails with ENOSPC, root's too (no block is reserved)."""
        filler = self.place / ".filler"
        with filler.open("wb") as file:
            _fill(file.fileno(), _free_bytes(self.place))
        try:
            yield
        finally:
            filler.unlink()

    @contextmanager
    def still(self) -> Iterator[None]:
        """Writing and fsync(2) within do not return before the end, as of a disk that hangs. Nothing is refused."""
        subprocess.run(["fsfreeze", "--freeze", self.place], check=True)
        try:
            yield
        finally:
            subprocess.run(["fsfreeze", "--unfreeze", self.place], check=True)

    @contextmanager
    def slow(self, still_s: float = 1.0, moves_s: float = 0.2) -> Iterator[None]:
        """It stands still and moves in turn, so that most of what calls fsync(2) waits for up to `still_s`."""
        ended = threading.Event()

        def alternate() -> None:
            while not ended.is_set():
                with self.still():
                    ended.wait(still_s)
                ended.wait(moves_s)

        thread = threading.Thread(target=alternate)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def lose_unsynced(self) -> None:
        """What a power cut leaves: without what nobody synced and the kernel did not write yet. Nothing may be open."""
        left = self.image.with_suffix(".left")
        # The image has what the file system wrote; the rest of it is in memory, and unmounting would write it.
        subprocess.run(["cp", "--sparse=always", self.image, left], check=True)
        subprocess.run(["umount", self.place], check=True)
        left.replace(self.image)
        subprocess.run(["e2fsck", "-p", self.image], check=False)  # 1: it has mended something
        subprocess.run(["mount", "-o", "loop", self.image, self.place], check=True)


@contextmanager
def disks(places: Mapping[str, Path], images: Path, size_bytes: int) -> Iterator[dict[str, Disk]]:
    """A disk mounted at each place, by name. The places exist and are empty. images: a folder for the files."""
    with ExitStack() as mounted:
        made = {}
        for name, place in places.items():
            image = images / f"{name}.img"
            with image.open("wb") as file:
                file.truncate(size_bytes)
            subprocess.run(["mkfs.ext4", "-q", "-m", "0", image], check=True)
            mode = place.stat().st_mode
            subprocess.run(["mount", "-o", "loop", image, place], check=True)
            mounted.callback(_unmounted, place, image)
            os.chmod(place, mode)
            (place / "lost+found").rmdir()  # Kafka takes a folder of its disk for a partition
            made[name] = Disk(place, image)
        yield made


def possible() -> bool:
    """Whether this machine and user can do that."""
    programs = ("mkfs.ext4", "e2fsck", "mount", "fsfreeze")
    return os.geteuid() == 0 and Path("/dev/loop-control").exists() and all(map(shutil.which, programs))


def _fill(file: int, free: int) -> None:
    """By ever smaller powers of two, down to a block: a part of the free space is needed for the file's own blocks."""
    step = 1 << free.bit_length()
    while step >= BLOCK:
        try:
            os.posix_fallocate(file, os.fstat(file).st_size, step)
        except OSError:
            step >>= 1


def _free_bytes(place: Path) -> int:
    found = os.statvfs(place)
    return found.f_bavail * found.f_frsize


def _unmounted(place: Path, image: Path) -> None:
    subprocess.run(["umount", "--lazy", place], check=True)
    image.unlink()
