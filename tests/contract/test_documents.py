"""The documents: each link leads somewhere, each command line of `./sluice` and each target of `make` exists, and each
configuration is legal."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import click
import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from sluice.cli.main import cli
from sluice.config.load import parse

REPOSITORY = Path(__file__).resolve().parents[2]
#: Every Markdown file of the repository.
ALL = sorted(
    REPOSITORY / name
    for name in subprocess.check_output(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=REPOSITORY, text=True
    ).split()
    if (REPOSITORY / name).exists()
)
#: Those whose commands and configurations a reader types.
GUIDES = [
    REPOSITORY / "README.md",
    *sorted(REPOSITORY.glob("docs/*.md")),
    *sorted(REPOSITORY.glob("docs/algorithms/*.md")),
]
TARGETS = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))


@cache
def tokens(file: Path) -> list[Token]:
    """Blocks, each followed by its inline parts."""
    blocks = MarkdownIt("commonmark").enable("table").parse(file.read_text())
    return [token for block in blocks for token in (block, *(block.children or ()))]


@cache
def anchors(file: Path) -> set[str]:
    """As GitHub makes them of headings, and those that the text has itself."""
    slugs = set(re.findall(r'<a id="([^"]+)"', file.read_text()))
    parsed = tokens(file)
    for heading, inline in pairwise(parsed):
        if heading.type == "heading_open":
            text = "".join(part.content for part in inline.children or ())
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            copies = sum(name == slug or re.fullmatch(rf"{re.escape(slug)}-\d+", name) is not None for name in slugs)
            slugs.add(f"{slug}-{copies}" if copies else slug)
    return slugs


def broken(file: Path, link: str) -> str:
    """Why a link leads nowhere; "" for a link to another site, or one that leads somewhere."""
    if re.match(r"[a-z]+:", link):
        return ""
    path, _, anchor = link.partition("#")
    target = (file.parent / path).resolve() if path else file
    if not target.exists():
        return f"{link}: no such file"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return f"{link}: no such heading"
    return ""


def commands(text: str) -> Iterator[str]:
    """The lines of a block that begin with the program, without comment, pipe and redirection."""
    for line in text.splitlines():
        if match := re.match(r"\s*((?:\./sluice|make) (?:\"[^\"]*\"|'[^']*'|[^|>#&;\"'])*)", line):
            yield match[1].strip()


def fault(line: str) -> str:
    """Why a command line is not legal; "" for a legal one. A file that does not exist is no fault."""
    program, *words = shlex.split(line)
    if program == "make":
        return ", ".join(word for word in words if "=" not in word and word not in TARGETS)
    command: click.Command | None = cli
    context = None
    try:
        while command is not None:
            context = command.make_context(command.name, words, parent=context)
            if not isinstance(command, click.Group):
                break
            words = [*context._protected_args, *context.args]
            _, command, words = command.resolve_command(context, words)
    except click.exceptions.Exit:  # --help, --version
        pass
    except click.UsageError as error:
        return "" if "does not exist" in error.message else error.format_message()
    return ""


@pytest.mark.parametrize("file", ALL, ids=lambda file: str(file.relative_to(REPOSITORY)))
def test_each_link_leads_somewhere(file: Path) -> None:
    links = [str(token.attrs.get("href") or token.attrs.get("src") or "") for token in tokens(file)]
    assert [why for link in links if link and (why := broken(file, link))] == []


@pytest.mark.parametrize("file", GUIDES, ids=lambda file: file.name)
def test_each_command_exists(file: Path) -> None:
    blocks = [token.content for token in tokens(file) if token.type == "fence"]
    lines = [line for block in blocks for line in commands(block)]
    assert [(line, why) for line in lines if (why := fault(line))] == []


@pytest.mark.parametrize("file", GUIDES[1:], ids=lambda file: file.name)
def test_each_code_is_in_the_reference(file: Path) -> None:
    known = (REPOSITORY / "docs/reference/reasons.md").read_text()
    prose = " ".join(token.content for token in tokens(file) if token.type == "text")
    codes = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", prose))
    assert {code for code in codes if not re.search(rf"\b{code}\b", known)} == set()


@pytest.mark.parametrize("file", GUIDES, ids=lambda file: file.name)
def test_each_configuration_is_legal(file: Path) -> None:
    for token in tokens(file):
        if token.type == "fence" and token.info == "yaml":
            document = yaml.safe_load(token.content)
            if document.keys() & {"pools", "slos", "discovery", "derived_slo", "unsampled"}:
                parse(token.content, file.name)


def test_the_checks_find_faults() -> None:
    assert fault("./sluice pools lst")
    assert fault("./sluice pools explain --sise server cart")
    assert fault("make upp")
    assert not fault("make up APPLY=all")
    assert not fault("./sluice report traces.jsonl.gz")
    assert broken(REPOSITORY / "README.md", "docs/none.md")
    assert broken(REPOSITORY / "README.md", "docs/glossary.md#none")
    assert not broken(REPOSITORY / "README.md", "docs/glossary.md#traces")
    assert list(commands("./sluice sql \"SELECT '#'\" | head  # text\necho")) == ["./sluice sql \"SELECT '#'\""]


def test_the_quick_start_is_short() -> None:
    assert len((REPOSITORY / "docs/quick-start.md").read_text().split()) <= 750
