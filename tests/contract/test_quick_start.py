"""docs/quick-start.md: its configurations, put where the page puts them, are legal to the programs that read them."""

import os
import re
import subprocess
import sys
from pathlib import Path

from markdown_it import MarkdownIt

from stack.installs import BIN

REPOSITORY = Path(__file__).resolve().parents[2]
EMPTY = REPOSITORY / "deploy/local/empty"


def blocks(page: str, info: str) -> list[str]:
    tokens = MarkdownIt("commonmark").parse((REPOSITORY / "docs" / page).read_text())
    return [token.content for token in tokens if token.type == "fence" and token.info == info]


def check(file: Path, old: str, new: str, *program: str | Path) -> str:
    """Replaces a line of a file of the stack without the demo, and returns what a program's --check prints of it."""
    text = (EMPTY / file.name).read_text()
    assert re.findall(rf"^{re.escape(old)}$", text, re.MULTILINE) == [old]
    file.write_text(text.replace(f"\n{old}\n", f"\n{new}\n"))
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "recommender/decide/src")}
    command = [*program, "--check", "--config", file]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def test_the_slo_is_legal(tmp_path: Path) -> None:
    slo, _target = blocks("quick-start.md", "yaml")
    decider = (sys.executable, "-m", "sluice.decider")
    assert "1 SLOs, legal" in check(tmp_path / "sluice.yaml", "pools: auto", slo, *decider)


def test_the_target_is_legal_and_only_read(tmp_path: Path) -> None:
    _slo, target = blocks("quick-start.md", "yaml")
    valid = check(tmp_path / "actuator.yaml", "targets: []", target, BIN / "sluice-actuator")
    assert "valid: 1 target, 0 opted in to apply" in valid


def test_its_variables_are_those_of_your_application() -> None:
    (short,) = (block for block in blocks("quick-start.md", "") if block.startswith("export "))
    whole = next(block for block in blocks("your-application.md", "") if block.startswith("export "))
    assert set(short.splitlines()) <= set(whole.splitlines())
