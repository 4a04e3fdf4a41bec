"""Reads the YAML file into a `Config`."""

from __future__ import annotations

from pathlib import Path

from sluice.config.model import Config
from sluice.document import ConfigError, parse_as


def load(path: Path) -> Config:
    """The configuration in `path`. Raises ConfigError when it cannot be read or parsed, or is not legal."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise ConfigError(f"read {path}: {cause}") from cause
    return parse(text, str(path))


def parse(text: str, name: str) -> Config:
    """As `load`, from text. `name`: the file's name in messages."""
    return parse_as(Config, text, name, "slos and pools")
