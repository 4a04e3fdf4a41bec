"""The query cookbook: storage/clickhouse/cookbook/NAME.sql. The first comment line is the title."""

from dataclasses import dataclass
from pathlib import Path

from sluice.cli.output import CliError

COOKBOOK = Path(__file__).resolve().parents[6] / "storage" / "clickhouse" / "cookbook"


@dataclass(frozen=True)
class Recipe:
    name: str
    title: str
    query: str


def recipes(folder: Path = COOKBOOK) -> list[Recipe]:
    """All recipes by name; empty when the folder does not exist."""
    return [_read(path) for path in sorted(folder.glob("*.sql"))]


def recipe(name: str, folder: Path = COOKBOOK) -> Recipe:
    """The recipe of a name. Raises CliError with the names that exist."""
    by_name = {recipe.name: recipe for recipe in recipes(folder)}
    if name not in by_name:
        raise CliError(f"no recipe {name!r}; recipes: {', '.join(by_name) or 'none'}")
    return by_name[name]


def _read(path: Path) -> Recipe:
    query = path.read_text(encoding="utf-8")
    comments = (line.removeprefix("--").strip() for line in query.splitlines() if line.startswith("--"))
    return Recipe(path.stem, next(comments, ""), query)
