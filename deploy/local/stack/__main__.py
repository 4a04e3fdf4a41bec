"""The local stack's command line, which the Makefile calls: `PYTHONPATH=deploy/local python3 -m stack`."""

import argparse
import errno
import sys

from stack import installs, settings
from stack.clean import clean
from stack.down import down
from stack.report import Report
from stack.status import status
from stack.steps import StepError
from stack.up import set_up, up

#: What the machine refuses, and what its user does about it. Anything else is a fault of ours, and has its traceback.
REFUSED = {
    errno.EACCES: "clone the repository into a folder of your own: .cache in it has data and logs",
    errno.EPERM: "clone the repository into a folder of your own: .cache in it has data and logs",
    errno.EROFS: "clone the repository into a folder that can be written: .cache in it has data and logs",
    errno.ENOSPC: "free space on that disk, and run it again: what is complete is kept",
    errno.EDQUOT: "free some of your quota on that disk, and run it again: what is complete is kept",
}


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(prog="stack", description=__doc__)
    commands = root.add_subparsers(dest="command", required=True)

    def command(name: str, purpose: str, example: str = "") -> argparse.ArgumentParser:
        words = f"Example: python3 -m stack {name} {example}".rstrip()
        return commands.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.", epilog=words)

    setup = command("setup", "install and build for a purpose", "--for test")
    setup.add_argument(
        "--for", dest="purpose", choices=installs.PURPOSES, default="up", help="what the installed programs are for"
    )
    start = command("up", "set up, start everything, wait for the first recommendation", "--apply cart.threads")
    start.add_argument("--no-demo", action="store_true", help="without the demo shop and its load")
    start.add_argument("--empty", action="store_true", help="without the demo shop and its configuration")
    start.add_argument(
        "--apply", action="append", default=[], metavar="TARGET", help="let the actuator set this target, or `all`"
    )
    command("down", "stop everything; data stays")
    command("status", "show the state of each process and stage")
    command("clean", "remove data and caches; refused while the stack is up")
    return root


def main() -> int:
    options = parser().parse_args()
    report = Report()
    try:
        stack = settings.load()
        if options.command == "setup":
            set_up(options.purpose, report)
        elif options.command == "up":
            up(stack, report, demo=not options.no_demo, empty=options.empty, apply=options.apply)
        elif options.command == "down":
            down(stack, report)
        elif options.command == "status":
            return status(stack, report)
        else:
            clean(stack, report)
    except settings.SettingsError as error:
        report.failure(StepError(str(error)))
        return 1
    except StepError as error:
        report.failure(error)
        return 1
    except OSError as error:
        if error.errno not in REFUSED:
            raise
        report.failure(StepError(f"{error.filename or 'a file'}: {error.strerror}", advice=REFUSED[error.errno]))
        return 1
    except KeyboardInterrupt:
        report.line("interrupted; started processes go on running: `make status` shows them, `make down` stops them")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
