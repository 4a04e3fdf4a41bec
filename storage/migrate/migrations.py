"""The first schema and the migrations after it: existing, applied and pending ones. It only reads files."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from migrate.errors import MigrateError
from migrate.statements import Statement, read

_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
#: Version of the first schema, under which it is recorded as a migration is.
FIRST = 0


class Migration(NamedTuple):
    """A file `NNNN_name.sql`, or the first schema, a folder with a file for each table.

    The checksum is SHA-256, in hexadecimal: of the file's bytes, or of names and checksums of the folder's files.
    """

    version: int
    name: str
    checksum: str
    path: Path

    def statements(self) -> list[Statement]:
        """All statements in order; the first schema creates tables before the views that read them."""
        if self.path.is_file():
            return read(self.path)
        statements = [statement for file in _files(self.path) for statement in read(file)]
        return sorted(statements, key=lambda statement: not statement.text.startswith("CREATE TABLE"))


class Applied(NamedTuple):
    """A row of `schema_migrations`."""

    version: int
    name: str
    checksum: str


def load(folder: Path) -> list[Migration]:
    """The first schema, `tables/` of the folder, and the files of `migrations/`, ascending. Gaps between numbers are
    fine: authors reserve numbers early. Raises MigrateError for a bad name and for a repeated number."""
    tables = folder / "tables"
    lines = [f"{_checksum(file)} {file.name}\n" for file in _files(tables)]
    migrations = [Migration(FIRST, tables.name, hashlib.sha256("".join(lines).encode()).hexdigest(), tables)]
    for file in _files(folder / "migrations"):
        match = _NAME.fullmatch(file.name)
        if not match or int(match[1]) == FIRST:
            raise MigrateError(
                f"read {file}: a migration must be named NNNN_name.sql (digits from 0001, then a-z 0-9 _)"
            )
        migrations.append(Migration(int(match[1]), match[2], _checksum(file), file))
    for before, migration in pairwise(migrations):
        if migration.version == before.version:
            raise MigrateError(f"read {migration.path}: {before.path.name} has that number too")
    return migrations


def pending(migrations: Sequence[Migration], applied: Mapping[int, Applied]) -> list[Migration]:
    """Migrations to apply. Raises MigrateError if an applied one differs from its file, or has none and is not newer
    than all files."""
    known = {migration.version for migration in migrations}
    for version, row in sorted(applied.items()):
        if version not in known and version < max(known):
            raise MigrateError(
                f"compare migrations: the database has {version:04d}_{row.name} and the folder has not; "
                "this source tree is of another branch than the database"
            )
    for migration in migrations:
        done = applied.get(migration.version)
        if done and done.checksum != migration.checksum:
            raise MigrateError(
                f"compare migrations: {migration.path} was changed after it was applied "
                f"(applied {done.checksum[:12]}, now {migration.checksum[:12]}); undo that and add a new migration"
            )
    return [migration for migration in migrations if migration.version not in applied]


def newer(migrations: Sequence[Migration], applied: Mapping[int, Applied]) -> str:
    """The database's newest migration if it is newer than all files; else ""."""
    newest = max(applied.values(), default=None)
    return f"{newest.version:04d}_{newest.name}" if newest and newest.version > migrations[-1].version else ""


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.sql"))


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
