"""Passwords of one stack: those of its file, else made at the first `make up` and kept in STATE/secrets."""

import os

from stack import private
from stack.settings import SECRETS, Settings


def known(settings: Settings) -> dict[str, str]:
    """Each of SECRETS; "" for one that is not made yet."""
    return {name: settings.secrets[name] or _kept(settings, name) for name in SECRETS}


def make(settings: Settings) -> None:
    """Makes what is lacking: from then on `known` has every password, and the same at each later call."""
    private.directory(settings.state / "secrets")
    for name, value in known(settings).items():
        if not value:
            private.write(settings.state / "secrets" / name, os.urandom(32).hex() + "\n")


def _kept(settings: Settings, name: str) -> str:
    try:
        return (settings.state / "secrets" / name).read_text().strip()
    except FileNotFoundError:
        return ""
