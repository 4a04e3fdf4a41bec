"""Views and functions: every run replaces these definitions. Each file has one CREATE OR REPLACE statement."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from migrate.errors import MigrateError
from migrate.statements import Statement, read


def load(folder: Path, kind: str) -> list[Statement]:
    """The statements of a folder, each after the definitions that it names. Raises MigrateError.

    `kind` is VIEW or FUNCTION. The object's name must be the file's name.
    """
    by_name: dict[str, Statement] = {}
    for file in sorted(folder.glob("*.sql")):
        first, *more = read(file)
        if more or not re.match(rf"CREATE OR REPLACE {kind} {re.escape(file.stem)}\b", first.text):
            raise MigrateError(f"read {file}: expected one statement, CREATE OR REPLACE {kind} {file.stem} ...")
        by_name[file.stem] = first
    needs = {
        name: {word for word in re.findall(r"\w+", statement.text) if word in by_name and word != name}
        for name, statement in by_name.items()
    }
    try:
        return [by_name[name] for name in TopologicalSorter(needs).static_order()]
    except CycleError as error:
        raise MigrateError(
            f"order {folder}: these name one another in a circle: {' -> '.join(error.args[1])}"
        ) from error
