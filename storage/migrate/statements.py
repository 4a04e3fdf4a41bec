"""Splits a SQL or Cypher file into statements."""

import re
from pathlib import Path
from typing import NamedTuple

from migrate.errors import MigrateError

# A quoted string or name, a comment (of one line, or a block), or the end of a statement. Markers of comments differ:
# `--` is a relationship in Cypher.
_TOKEN = {
    suffix: re.compile(
        r"""(?P<quoted>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|`[^`]*`)"""
        rf"""|(?P<comment>{marker}[^\n]*|/\*.*?\*/)"""
        r"""|(?P<end>;)""",
        re.DOTALL,
    )
    for suffix, marker in ((".sql", "--"), (".cypher", "//"))
}


class Statement(NamedTuple):
    """One statement without its comments, with its place."""

    file: Path
    number: int  # 1 is the first of its file
    text: str

    def describe(self) -> str:
        """For messages: file, number and first line."""
        return f"{self.file}, statement {self.number} ({self.text.splitlines()[0][:80]})"


def split(text: str, suffix: str = ".sql") -> list[str]:
    """Statements of `text`, separated by `;`, without comments; a `;` in a comment or in quotes separates nothing.
    `suffix` names the language: `.sql` or `.cypher`.

    >>> split("SELECT ';'; -- done;")
    ["SELECT ';'"]
    """
    parts = [""]
    position = 0
    for token in _TOKEN[suffix].finditer(text):
        parts[-1] += text[position : token.start()]
        position = token.end()
        if token["quoted"]:
            parts[-1] += token["quoted"]
        elif token["end"]:
            parts.append("")
    parts[-1] += text[position:]
    stripped = ("\n".join(line.rstrip() for line in part.splitlines() if line.strip()).strip() for part in parts)
    return [part for part in stripped if part]


def read(file: Path) -> list[Statement]:
    """Statements of one file, at least one."""
    statements = [
        Statement(file, number, text) for number, text in enumerate(split(file.read_text(), file.suffix), start=1)
    ]
    if not statements:
        raise MigrateError(f"read {file}: it has no statement")
    return statements
