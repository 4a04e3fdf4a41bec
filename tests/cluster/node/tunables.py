"""Settings of the kernel that a kubelet changes for the whole machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NAMES = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)


@contextmanager
def restored(root: Path = Path("/proc/sys")) -> Iterator[None]:
    """Gives each setting its value of before the block."""
    before = {name: (root / name).read_text() for name in _NAMES if (root / name).exists()}
    try:
        yield
    finally:
        for name, value in before.items():
            if (root / name).read_text() != value:
                (root / name).write_text(value)
