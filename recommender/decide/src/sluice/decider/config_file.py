"""The configuration file, and whether its content changed since it was last read."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from sluice.config import Config, ConfigError
from sluice.config.load import parse


class ConfigFile:
    """Compares contents: a mounted ConfigMap changes by the swap of a link, with neither a signal nor a newer time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digest = b""

    def load(self) -> Config:
        """Raises ConfigError when the file cannot be read, or is not legal."""
        content = self._content()
        self._digest = _digest(content)
        if isinstance(content, OSError):
            raise ConfigError(f"read {self.path}: {content}") from content
        try:
            return parse(content.decode(), str(self.path))
        except UnicodeDecodeError as cause:
            raise ConfigError(f"read {self.path}: {cause}") from cause

    def changed(self) -> bool:
        """Whether the content is another one than at the last `load`."""
        return _digest(self._content()) != self._digest

    def _content(self) -> bytes | OSError:
        try:
            return self.path.read_bytes()
        except OSError as cause:
            return cause


def _digest(content: bytes | OSError) -> bytes:
    return b"" if isinstance(content, OSError) else sha256(content).digest()
