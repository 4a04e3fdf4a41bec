"""Pieces of a page in Markdown."""

from collections.abc import Iterable, Sequence

WRITTEN = "<!-- written by `make generate` -->\n"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(cell(text) for text in line)} |\n" for line in lines)


def cell(text: str) -> str:
    """On one line, with its bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def page(title: str, introduction: str, *parts: str) -> str:
    return "\n".join([WRITTEN, f"# {title}\n", f"{introduction.strip()}\n", *parts])
