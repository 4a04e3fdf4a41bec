"""Follows a watch of the recommender across lost connections."""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

import grpc

from sluice.cli.output import CliError

FIRST_WAIT_S, LAST_WAIT_S = 0.5, 10.0
# With these codes, another attempt would fail in the same way.
FINAL = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNIMPLEMENTED,
)


class Event(Protocol):
    """An event of a watch."""

    @property
    def resume_token(self) -> str: ...


E = TypeVar("E", bound=Event)


def follow(
    watch: Callable[[str], Iterable[E]],
    say: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[E]:
    """Every event, for ever. Resumes a broken stream at its last token, with growing waits and jitter.
    `watch`: opens a stream at a resume token.

    Raises:
        CliError: the recommender refuses the watch.
    """
    token, wait_s, lost = "", FIRST_WAIT_S, False
    while True:
        try:
            for event in watch(token):
                if lost:
                    say("the recommender is back")
                    lost = False
                wait_s = FIRST_WAIT_S
                token = event.resume_token or token
                yield event
        except grpc.RpcError as error:
            if error.code() in FINAL:
                raise CliError(f"the recommender answered {error.code().name}: {error.details()}") from None
            if not lost:
                say(f"lost the recommender: {error.details()}; trying again")
                lost = True
        sleep(wait_s * random.uniform(0.5, 1.0))
        wait_s = min(2 * wait_s, LAST_WAIT_S)
