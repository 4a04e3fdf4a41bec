"""The cgroups of pods, which outlive the kubelet."""

from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


def remove_pods(root: Path = ROOT) -> list[str]:
    """Removes kubepods of each hierarchy; returns those that still have processes."""
    kept = []
    for top in (root / "kubepods", *root.glob("*/kubepods")):
        for folder in sorted((path for path in top.rglob("*") if path.is_dir()), reverse=True):
            _remove(folder)
        if top.exists() and not _remove(top):
            kept.append(str(top))
    return kept


def _remove(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError:
        return False
    return True
