"""What the repository keeps of a bench."""

from pathlib import Path

from bench.results import keep


def test_a_table_and_its_pictures_are_kept_together(tmp_path: Path) -> None:
    for name in ("x", "other"):
        (tmp_path / f"{name}.png").write_bytes(name.encode())
    kept = keep("x", "![x](x.png)\n", tmp_path, tmp_path / "kept")
    assert [path.name for path in kept] == ["x.md", "x.png"]
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["x.md", "x.png"]
    assert (tmp_path / "kept/x.png").read_bytes() == b"x"
