"""What `./sluice` runs: the stack's addresses into the environment, then the command line, in one process.

Python is started with -S, so that Ctrl-C finds it here, and not within the import of `site`, where it would be a
traceback.
"""

from _signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal  # type: ignore[import-not-found] # no other module yet

if getsignal(SIGINT) is default_int_handler:  # in the background it may be ignored, and stays so
    signal(SIGINT, SIG_DFL)

import os
import site
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main() -> None:
    site.main()
    # This folder last: those in it are called as packages are.
    sys.path[0] = os.path.join(HERE, "../../recommender/src")
    sys.path.append(HERE)
    from stack import environment, settings

    try:
        addresses = environment.addresses(settings.load())
    except settings.SettingsError as error:  # going on would talk to another stack than the one that was named
        sys.exit(f"sluice: {error}")
    for name, value in addresses.items():
        if not os.environ.get(name):
            os.environ[name] = value

    from sluice.cli.main import main as command_line

    command_line()


main()
