"""Small applications for tests, with times that do not vary, so that every span can be worked out by hand."""

from testbed.application import Application
from testbed.distributions import Constant
from testbed.engine import Engine
from testbed.spans import Span
from testbed.topology import Call, Compute, PoolSpec, ServiceSpec, Topology, Wait

NETWORK = 0.001


class World:
    """An application without users: requests are sent by hand."""

    def __init__(self, *services, entry="front"):
        self.spans: list[Span] = []
        self.answers = []
        self.engine = Engine()
        topology = Topology(tuple(services), entry, network=Constant(NETWORK))
        self.application = Application(topology, self.engine, 1, self.spans.append)

    def send(self, second, operation="GET /"):
        target = self.application.entry(operation)
        self.engine.at(second, lambda _: self.application.submit(target, self._answered), None)

    def _answered(self, request):
        self.answers.append((request.submitted, self.engine.now, request.failed))

    def run(self, second=1000.0):
        self.engine.run_until(second)
        return self

    def of(self, service, side):
        """Spans of one service and side, by start."""
        results = [span for span in self.spans if (span.site.service, span.site.side) == (service, side)]
        return sorted(results, key=lambda span: span.start_ns)


def wait(seconds):
    return Wait(Constant(seconds))


def compute(seconds):
    return Compute(Constant(seconds))


def front(*steps, **more):
    return ServiceSpec("front", {"GET /": steps or (Call("back", "GET /work"),)}, cores=64, **more)


def back(*steps, threads=None, queue_limit=100, **more):
    pool = PoolSpec(threads, queue_limit) if threads else None
    return ServiceSpec("back", {"GET /work": steps or (wait(0.100),)}, cores=64, threads=pool, **more)


def ms(span):
    """(start, end) in whole ms."""
    return round(span.start_ns / 1e6), round(span.end_ns / 1e6)
