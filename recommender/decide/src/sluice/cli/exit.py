"""How the command ends: on every kind of end without a traceback."""

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from sluice.cli.printable import printable

#: Standard output cannot take more. The command is not the cause.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)


def die_of_interrupts() -> None:
    """Ctrl-C ends the process as it ends `cat`, also in the middle of an import. A process that ignores SIGINT, such
    as a job in the background, still ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def unwinding() -> Iterator[None]:
    """On Ctrl-C, runs `finally` and `with` (live lines, child processes), then ends the process."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def exit_code(run: Callable[[], object]) -> int:
    """Runs a command and returns its exit code: also 0 where the reader of standard output closed it (`| head`)."""
    try:
        run()
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return _flushed(done.exit_code)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 1
    except BrokenPipeError:
        _discard_output()
        return 0
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _discard_output()
        click.echo(f"Error: cannot write the result: {printable(error.strerror or str(error))}", err=True)
        return 1
    return 0


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
    return code


def _discard_output() -> None:
    """Discards the rest of the buffer, so that the interpreter's last flush does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
