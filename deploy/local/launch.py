"""`./sluice` runs this: the stack's addresses into the environment, then the command line, in one process.

SIGINT is blocked when it starts, so that Ctrl-C reaches Python here, and not during its own start.
"""

import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def die_of_interrupts() -> None:
    """As `cat` does. SIGINT stays ignored where it was, as for a job in the background."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def main() -> None:
    die_of_interrupts()
    # This folder last: it has folders named kafka and neo4j.
    sys.path[0] = os.path.join(HERE, "../../recommender/decide/src")
    sys.path.append(HERE)
    from stack import environment, settings

    try:
        addresses = environment.addresses(settings.load())
    except settings.SettingsError as error:  # without those addresses, it would reach another stack
        sys.exit(f"sluice: {error}")
    for name, value in addresses.items():
        if not os.environ.get(name):
            os.environ[name] = value

    from sluice.cli.main import main as command_line

    command_line()


main()
