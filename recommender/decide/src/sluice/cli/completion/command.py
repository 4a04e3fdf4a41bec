"""The command `sluice completion`."""

from pathlib import Path

import click

from sluice.cli.output import EXIT_CODES

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", epilog=EXIT_CODES)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    The script completes commands, options and their values, for `sluice` and `./sluice`. It completes names of pools
    and services where the recommender answers within a second.

    \b
    Examples:
      eval "$(./sluice completion bash)"                                 # this shell; in ~/.bashrc: every shell
      eval "$(./sluice completion zsh)"                                  # after compinit
      ./sluice completion fish > ~/.config/fish/completions/sluice.fish
    """
    click.echo(Path(__file__).with_name(f"sluice.{shell}").read_text(encoding="utf-8"), nl=False)
