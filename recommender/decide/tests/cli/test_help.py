"""The help of every command: its line, its examples, its options."""

import shlex
from collections.abc import Callable, Iterator
from inspect import cleandoc
from pathlib import Path

import click
import pytest
from click.testing import Result

from sluice.cli.lazy import LazyGroup
from sluice.cli.main import cli
from sluice.cli.output import EXIT_CODES
from sluice.cli.sections import Sectioned
from sluice.decider.command import main as decider

Run = Callable[..., Result]
PROMPTS = {"sluice", "./sluice"}


def contexts(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[click.Context]:
    context = click.Context(command, parent, name, **command.context_settings)
    yield context
    for child in command.list_commands(context) if isinstance(command, LazyGroup) else ():
        member = command.get_command(context, child)
        assert member is not None
        yield from contexts(member, child, context)


ALL = [*contexts(cli, "sluice"), click.Context(decider, None, "python -m sluice.decider")]
each_command = pytest.mark.parametrize("context", ALL, ids=lambda context: context.command_path.replace(" ", "-"))


def examples(command: click.Command) -> list[list[str]]:
    """The words of each call of Sluice in the examples; a line may have several, in pipes and substitutions."""
    _, _, block = cleandoc(command.help or "").partition("\nExample")
    calls: list[list[str]] = []
    for line in block.splitlines()[1:]:
        words: list[str] | None = None
        for word in shlex.shlex(line.replace('"$(', "; ").replace(')"', " ;"), posix=True, punctuation_chars=True):
            if word in PROMPTS:
                calls.append(words := [])
            elif set(word) <= set("|;<>"):
                words = None
            elif words is not None:
                words.append(word)
    return calls


def parse(command: click.Command, name: str, words: list[str]) -> None:
    """Parses as a call does, and runs nothing. Raises click.UsageError."""
    context = command.make_context(name, list(words))
    if isinstance(command, click.Group) and words:
        child, member, others = command.resolve_command(context, words)
        assert member is not None
        parse(member, str(child), others)


@each_command
def test_the_help_begins_with_a_line_which_the_list_of_commands_has_too(context: click.Context) -> None:
    first = (context.command.help or "").partition("\n\n")[0]
    assert first.endswith(".")
    assert "\n" not in first
    assert len(first) <= 80
    if context.parent is not None:
        assert isinstance(context.parent.command, LazyGroup)
        assert context.parent.command.lazy[str(context.info_name)].short_help == first
        assert EXIT_CODES in " ".join(context.get_help().split())


@each_command
def test_each_example_is_a_legal_call(context: click.Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if context.command is decider:
        assert "\n      python -m sluice.decider --config sluice.yaml\n" in str(decider.help)
        return
    calls = examples(context.command)
    assert calls
    own = context.command_path.split()[1:]
    assert any(call[: len(own)] == own for call in calls)
    for call in calls:
        for word in call:
            if word.endswith((".yaml", ".json", ".csv")):  # files that have to exist
                Path(word).parent.mkdir(parents=True, exist_ok=True)
                Path(word).touch()
        parse(cli, "sluice", call)


@each_command
def test_each_option_has_help_and_more_than_five_have_headings(context: click.Context) -> None:
    command = context.command
    options = {str(param.name): param for param in command.params if isinstance(param, click.Option)}
    assert [name for name, option in options.items() if not option.help] == []
    if len(options) > 5 or isinstance(command, Sectioned):
        assert isinstance(command, Sectioned)
        assert sorted(name for names in command.sections.values() for name in names) == sorted(options)


def test_an_example_that_is_no_call_is_found() -> None:
    command = click.Command("x", help="Do.\n\n\b\nExample:\n  zcat a | sluice pools list --servise cart > b")
    (words,) = examples(command)
    assert words == ["pools", "list", "--servise", "cart"]
    with pytest.raises(click.NoSuchOption):
        parse(cli, "sluice", words)


def test_without_a_command_it_shows_those_of_a_first_day_and_fails(run: Run) -> None:
    result = run()
    assert (result.exit_code, result.stdout) == (2, "")
    calls = [line.split("  ")[1].split()[1:] for line in result.stderr.splitlines() if line.startswith("  sluice ")]
    assert len(calls) == 5
    for call in calls:
        parse(cli, "sluice", call)
    assert "sluice --help" in result.stderr
