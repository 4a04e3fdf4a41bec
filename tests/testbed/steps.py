"""The steps of an operation as they run."""

from collections.abc import Sequence

from .distributions import Sampler
from .request import Request, Target


class ComputeStep:
    __slots__ = ("_work",)

    def __init__(self, work: Sampler) -> None:
        self._work = work

    def start(self, request: Request) -> None:
        request.instance.cpu.run(self._work(), Request.proceed, request)


class WaitStep:
    __slots__ = ("_time",)

    def __init__(self, time: Sampler) -> None:
        self._time = time

    def start(self, request: Request) -> None:
        instance = request.instance
        instance.engine.after(self._time() * instance.waits, Request.proceed, request)


class CallStep:
    """Calls made at once; the step ends when all have returned, and fails when one of them did."""

    __slots__ = ("_calls",)

    def __init__(self, calls: Sequence[tuple[str, Target]]) -> None:
        self._calls = calls

    def start(self, request: Request) -> None:
        instance = request.instance
        now = instance.engine.now
        request.outstanding = len(self._calls)
        for service, target in self._calls:
            Request(target, request, request.trace_id, returned).submit(instance.connections.get(service), now)


def returned(call: Request) -> None:
    caller = call.caller
    assert caller is not None
    if call.failed:
        caller.failed = True
    caller.outstanding -= 1
    if caller.outstanding == 0:
        caller.proceed()
