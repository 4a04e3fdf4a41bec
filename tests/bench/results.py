"""Where tables and pictures go: `out/` on each run, `results/` for those that the repository keeps."""

from __future__ import annotations

import shutil
from pathlib import Path

OUT = Path(__file__).with_name("out")
KEPT = Path(__file__).with_name("results")


def keep(name: str, text: str, out: Path = OUT, kept: Path = KEPT) -> list[Path]:
    """Writes `text` as `NAME.md`, and copies the pictures of `out` that it shows; those it shows must be there."""
    kept.mkdir(exist_ok=True)
    table = kept / f"{name}.md"
    table.write_text(text)
    pictures = [picture for picture in sorted(out.glob("*.png")) if f"({picture.name})" in text]
    for picture in pictures:
        shutil.copyfile(picture, kept / picture.name)
    return [table, *(kept / picture.name for picture in pictures)]
