"""Numbered migrations: which are there, which are applied, which come next. No I/O but reading the files."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from migrate.errors import MigrateError

_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


class Migration(NamedTuple):
    """A file `NNNN_name.sql`; the checksum is the SHA-256 of its bytes, in hexadecimal."""

    version: int
    name: str
    checksum: str
    file: Path


class Applied(NamedTuple):
    """A row of `schema_migrations`."""

    version: int
    name: str
    checksum: str


def load(folder: Path) -> list[Migration]:
    """The migrations of a folder, ascending; no number stands twice. Gaps are fine: numbers are given out early."""
    found = []
    for file in sorted(folder.glob("*.sql")):
        match = _NAME.fullmatch(file.name)
        if not match:
            raise MigrateError(f"read {file}: a migration must be named NNNN_name.sql (digits, then a-z 0-9 _)")
        checksum = hashlib.sha256(file.read_bytes()).hexdigest()
        found.append(Migration(int(match[1]), match[2], checksum, file))
    for before, migration in pairwise(found):
        if migration.version == before.version:
            raise MigrateError(f"read {migration.file}: {before.file.name} has that number too")
    return found


def pending(migrations: Sequence[Migration], applied: Mapping[int, Applied]) -> list[Migration]:
    """Those still to apply, after checking that what was applied is what stands in the files."""
    known = {migration.version for migration in migrations}
    for version, row in sorted(applied.items()):
        if version not in known:
            raise MigrateError(
                f"compare migrations: the database has {version:04d}_{row.name} and the folder has not; "
                "this source tree is older than the database"
            )
    for migration in migrations:
        done = applied.get(migration.version)
        if done and done.checksum != migration.checksum:
            raise MigrateError(
                f"compare migrations: {migration.file} was changed after it was applied "
                f"(applied {done.checksum[:12]}, now {migration.checksum[:12]}); undo that and add a new migration"
            )
    return [migration for migration in migrations if migration.version not in applied]
