"""The page of tables and views: the comments of storage/clickhouse."""

import re
from pathlib import Path

from docs.generate.markdown import page, table
from migrate import migrations
from schema.tables import FOLDER

_INTRODUCTION = """
Tables and views of ClickHouse's database `sluice`. Tables of the streaming jobs have superseded rows until ClickHouse
merges them: read them through a view, or with `FINAL`. `./sluice sql --list` shows queries that are ready.
"""
_COMMENT = re.compile(r"\A((?:--[^\n]*\n)*)")
_TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)\n\(\n(.*?)\n\)\nENGINE = (.*?);", re.DOTALL)
_COLUMN = re.compile(
    r"^ {4}(?P<name>[a-z]\w*) +(?P<type>\w+(?:\((?:[^()]|\([^()]*\))*\))?)(?P<rest>[^\n]*)", re.MULTILINE
)
_MEANING = re.compile(r"COMMENT '((?:[^']|'')*)'")
_ALTERED = re.compile(r"\bALTER TABLE (\w+)([^;]*? COLUMN[^;]*);")
_ADDED = re.compile(r"^ {4}ADD COLUMN IF NOT EXISTS ", re.MULTILINE)
_PARAMETER = re.compile(r"\{(\w+):(\w+)\}")


def text() -> str:
    first = sorted((FOLDER / "tables").glob("*.sql"))
    later = [migration.path for migration in migrations.load(FOLDER) if migration.path.is_file()]
    added = [column for file in later for column in _added(file)]
    tables = sorted(part for file in (*first, *later) for part in _tables(file, added))
    views = [_view(file) for file in sorted((FOLDER / "views").glob("*.sql"))]
    rows = table(["view", "has"], views)
    return page("Tables and views", _INTRODUCTION, "## Views\n", rows, *(part for _, part in tables))


def _added(file: Path) -> list[tuple[str, str]]:
    """Table, and the lines of the columns that a file adds to it, as CREATE TABLE has them. Raises ValueError for a
    file that changes a column in another way."""
    found = []
    for name, body in _ALTERED.findall(file.read_text()):
        lines, columns = _ADDED.subn("    ", body)
        if columns < body.count(" COLUMN"):
            raise ValueError(f"{file}: ALTER TABLE {name} has more than ADD COLUMN, a line each; extend this page")
        found.append((name, lines))
    return found


def _tables(file: Path, added: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Name and section of each table that a file creates. added: columns of later files, by table."""
    sql = file.read_text()
    return [
        (created[1], _section(created, _comment(sql), "".join(lines for name, lines in added if name == created[1])))
        for created in _TABLE.finditer(sql)
    ]


def _section(created: re.Match[str], comment: str, added: str) -> str:
    key = re.search(r"ORDER BY (\(.*?\)|\w+)", created[3])
    days = re.search(r"TTL .*INTERVAL (\d+) DAY", created[3])
    rows = []
    for column in _COLUMN.finditer(created[2] + added):
        meaning = _MEANING.search(column["rest"])
        rows.append((f"`{column['name']}`", f"`{column['type']}`", meaning[1].replace("''", "'") if meaning else ""))
    kept = f" Kept for {days[1]} days." if days else ""
    ordered = f"Key: `{key[1].strip('()')}`.{kept}\n" if key else ""
    return f"## {created[1]}\n\n{comment}\n\n{ordered}\n{table(['column', 'type', 'meaning'], rows)}"


def _view(file: Path) -> tuple[str, str]:
    sql = file.read_text()
    parameters = ", ".join(dict.fromkeys(name for name, _ in _PARAMETER.findall(sql)))
    return f"`{file.stem}{f'({parameters})' if parameters else ''}`", _comment(sql)


def _comment(sql: str) -> str:
    match = _COMMENT.match(sql)
    return " ".join(line.removeprefix("--").strip() for line in match[1].splitlines()) if match else ""
