"""Finds the service of an execution path that is the bottleneck (Sora 3.2; uConAdapter 4.1).

Three published signals and one of ours, all over the traces of one root operation:

- candidates by CPU: utilization of at least 80 % of the limit;
- the share of the end to end time that is the service's blame;
- Pearson's correlation of that blame with the end to end time;
- congestion ratio, p99 / p50 of that blame.

Blame is the processing time on the critical path. Each wait for a thread counts as blame of the requests that held the
threads, in proportion (`Blame.java`). The papers take the processing time alone, in which a wait for threads counts for
the caller of the service whose threads are all in use. Counting it for that service itself would still be wrong where
its threads wait for another: services with bounded pools pass a jam on to their callers, up to the first of them.

The ranking uses the first two signals, CPU candidates first. Where the operation is slower than usual, it goes by how
much longer than usual each service takes, instead of the share: what always takes most is not what changed.

The papers rank by the correlation. It errs where an operation calls a service for a part of its requests only. Whether
a request took that way moves its time more than a bottleneck that all requests pass, so that a healthy service on a
third of the paths comes first (`tests/bench/real`: of 13 bottlenecks put into real programs, the correlation names 9
and the share 12, from the same traces). `tests/bench/localization.py` measures each signal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sluice.model.reason import Reason

# Kubernetes' autoscaler adds replicas from here by default.
HIGH_UTILIZATION = 0.8
# Standard error of a correlation near 0 over 30 traces: 0.18.
LEAST_TRACES = 30
# Traces alone cannot distinguish these two causes.
CPU_UNKNOWN = Reason("CPU_UNKNOWN", "too few threads and threads held too long look alike: see THREADS_TAKEN too")
# Share of the end to end time.
LONG_WAIT = 0.1
# Below this part of a pool in flight, no request waits for its threads. A request waits only where all threads are in
# use, and the number in flight is the mean of a bucket (100 ms), for a part of which a pool may have been full.
HALF_FULL = 0.5
# Below it blame explains less than a tenth of the end to end time's variance (r^2 = 0.09).
WEAK_CORRELATION = 0.3
# From here on a service is named even if its time is always the same.
LARGE_SHARE = 0.3
# From so much over its usual end to end time on an operation is slower than usual.
SLOWER = 0.1
CONGESTED = 3.0


@dataclass(frozen=True)
class PathTimes:
    """A service on the critical paths of one root operation; sums in ns and ns^2, exact.

    traces            number of traces whose path leads through the service
    blame_sum, blame_sum2   of its blame x, and of x^2
    e2e_sum, e2e_sum2, blame_x_e2e   of the end to end time y of the same traces, of y^2 and of x y
    self_sum          of its processing time, which counts waits for threads for the caller
    wait_sum          of its callers' waits for its threads
    p50_ms, p99_ms    of x
    cpu               of its busiest instance, used / limit; None: not known
    pool              the smallest size of its threads in force meanwhile; None: not known
    in_flight         the most of its SERVER spans in a bucket meanwhile, of one instance; None: not known
    e2e_p95_ms        of y over all traces of the root operation; None: not known
    usual_ms          of x, a trace of the operation, before this time; None: not known, or the service is new
    usual_e2e_ms      their sum over the services, of those that are not new; None: not known
    """

    service: str
    traces: int
    blame_sum: int
    blame_sum2: int
    e2e_sum: int
    e2e_sum2: int
    blame_x_e2e: int
    self_sum: int
    wait_sum: int
    p50_ms: float | None = None
    p99_ms: float | None = None
    cpu: float | None = None
    pool: int | None = None
    in_flight: float | None = None
    e2e_p95_ms: float | None = None
    usual_ms: float | None = None
    usual_e2e_ms: float | None = None


@dataclass(frozen=True)
class Ranked:
    """A service with its signals; None where a signal is not known. Shares are of all traces of the operation.

    mean_ms, wait_ms, blame_ms   of processing time, wait for its threads, blame; over the traces that lead through it
    share_of_end_to_end          part of the end to end time that is its blame; over all services these sum to 1
    share_of_p95                 likewise of the p95 of the end to end time (`share_at`)
    longer_ms                    by how much its blame, a trace of the operation, is over its usual one
    """

    service: str
    share_of_traces: float
    mean_ms: float
    wait_ms: float
    blame_ms: float
    share_of_end_to_end: float
    correlation: float | None
    congestion_ratio: float | None
    cpu: float | None
    pool: int | None
    in_flight: float | None
    reasons: tuple[Reason, ...]
    share_of_p95: float | None = None
    longer_ms: float | None = None

    @property
    def is_cpu_candidate(self) -> bool:
        return self.cpu is not None and self.cpu >= HIGH_UTILIZATION


@dataclass(frozen=True)
class Localization:
    """`ranking`: the most critical first. `critical`: its head where the signals name one, else None.

    reasons: why it is named, or why none is; notes: caveats. p95_ms: of the end to end time; None: not known.
    """

    traces: int
    ranking: tuple[Ranked, ...]
    critical: str | None
    reasons: tuple[Reason, ...]
    notes: tuple[Reason, ...] = ()
    p95_ms: float | None = None


def localize(root: str, services: Sequence[PathTimes]) -> Localization:
    """Ranks `services`, which are all on the paths of one root operation; the service `root` is on each path."""
    whole = next((service for service in services if service.service == root), None)
    if whole is None or whole.traces < LEAST_TRACES:
        traces = whole.traces if whole else 0
        text = f"{traces:,} complete traces, {LEAST_TRACES} are needed"
        return Localization(traces, (), None, (Reason("TOO_FEW_TRACES", text),))
    usual_ms = whole.usual_e2e_ms
    slower = usual_ms is not None and whole.e2e_sum / whole.traces >= 1e6 * usual_ms * (1 + SLOWER)
    ranking = tuple(sorted((_signals(service, whole, slower) for service in services), key=partial(_order, slower)))
    first = ranking[0]
    notes = (CPU_UNKNOWN,) if any(service.cpu is None for service in services) and not first.is_cpu_candidate else ()
    moves = (first.correlation or 0.0) >= WEAK_CORRELATION
    if first.is_cpu_candidate or slower or first.share_of_end_to_end >= LARGE_SHARE or moves:
        return Localization(whole.traces, ranking, first.service, first.reasons, notes, whole.e2e_p95_ms)
    text = (
        f"no CPU known to be at {HIGH_UTILIZATION:.0%}, no service takes {LARGE_SHARE:.0%} of the end to end time,"
        " and the time of the one that takes most does not move with it"
    )
    return Localization(whole.traces, ranking, None, (Reason("NO_BOTTLENECK", text),), notes, whole.e2e_p95_ms)


def correlation(n: int, sx: int, sxx: int, sy: int, syy: int, sxy: int) -> float | None:
    """Pearson's correlation from exact sums; None for fewer than two pairs, and where x or y is constant.

    (1, 10), (2, 30), (3, 20): correlation(3, 6, 14, 60, 1400, 130) = 0.5.
    """
    x, y = n * sxx - sx * sx, n * syy - sy * sy
    if x <= 0 or y <= 0:
        return None
    return max(-1.0, min(1.0, (n * sxy - sx * sy) / (math.sqrt(x) * math.sqrt(y))))


def _signals(times: PathTimes, whole: PathTimes, slower: bool) -> Ranked:
    """slower: whether the operation is slower than usual.

    Correlates over all traces of the operation: where the path does not lead through the service, its time is 0.
    Over its own traces alone, a service on 5 of 1,000 paths could come first and explain nothing.
    """
    r = correlation(whole.traces, times.blame_sum, times.blame_sum2, whole.e2e_sum, whole.e2e_sum2, times.blame_x_e2e)
    share = times.blame_sum / whole.e2e_sum if whole.e2e_sum else 0.0
    # A service that is new to the operation usually took nothing.
    longer_ms = None if whole.usual_e2e_ms is None else times.blame_sum / whole.traces / 1e6 - (times.usual_ms or 0.0)
    ratio = times.p99_ms / times.p50_ms if times.p99_ms is not None and times.p50_ms else None
    reasons = []
    if times.cpu is not None and times.cpu >= HIGH_UTILIZATION:
        reasons.append(Reason("CPU_HIGH", f"CPU at {times.cpu:.0%} of its limit"))
    if slower and longer_ms is not None and whole.usual_e2e_ms and longer_ms >= SLOWER * whole.usual_e2e_ms:
        text = f"it takes {longer_ms:.0f} ms longer than usual; {whole.usual_e2e_ms:.0f} ms are usual end to end"
        reasons.append(Reason("LONGER_THAN_USUAL", text))
    if share >= LARGE_SHARE:
        reasons.append(Reason("LARGE_SHARE", f"{share:.0%} of the end to end time is its blame"))
    if r is not None and r >= WEAK_CORRELATION:
        text = f"its blame moves with the end to end time, correlation {r:.2f}"
        reasons.append(Reason("MOVES_WITH_END_TO_END", text))
    if ratio is not None and ratio >= CONGESTED:
        reasons.append(Reason("CONGESTED", f"p99 is {ratio:.1f} times p50"))
    if whole.e2e_sum and times.wait_sum >= LONG_WAIT * whole.e2e_sum:
        reasons.append(_wait(times, times.wait_sum / whole.e2e_sum))
    return Ranked(
        service=times.service,
        share_of_traces=times.traces / whole.traces,
        mean_ms=_mean_ms(times.self_sum, times),
        wait_ms=_mean_ms(times.wait_sum, times),
        blame_ms=_mean_ms(times.blame_sum, times),
        share_of_end_to_end=share,
        correlation=r,
        congestion_ratio=ratio,
        cpu=times.cpu,
        pool=times.pool,
        in_flight=times.in_flight,
        reasons=tuple(reasons),
        share_of_p95=share_at(times, whole, whole.e2e_p95_ms) if whole.e2e_p95_ms else None,
        longer_ms=longer_ms,
    )


def share_at(times: PathTimes, whole: PathTimes, e2e_ms: float) -> float:
    """The part of an end to end time of `e2e_ms` that is the service's blame, 0..1: its linear regression on the end to
    end time, over all traces of the operation. Over all services these sum to 1, as far as none is beyond 0..1.

    Worked: cart takes 10 of 20, 20 of 32, 30 of 40 and 40 of 52 ms: means 25 and 36, slope 520 / 544. Of 52 ms it takes
    25 + 16 x 520 / 544 = 40.3 ms, 77.5 %.
    """
    n, sx, sy = whole.traces, times.blame_sum, whole.e2e_sum
    variance = n * whole.e2e_sum2 - sy * sy
    slope = (n * times.blame_x_e2e - sx * sy) / variance if variance > 0 else (sx / sy if sy else 0.0)
    blame_ns = sx / n + slope * (1e6 * e2e_ms - sy / n)
    return min(1.0, max(0.0, blame_ns / (1e6 * e2e_ms)))


def _wait(times: PathTimes, share: float) -> Reason:
    """The reason that says whose limit a wait is. A wait between a caller's span and the service's is for a thread, or
    for one of the caller's own connections.

    Worked: 3 of 200 in flight at most: nothing waited for a thread. 150 of 200: some requests may have. 3, and the size
    is not known: either.
    """
    taken = f"requests wait for its threads for {share:.0%} of the end to end time"
    if times.pool is None or times.in_flight is None:
        unknown = "the size of its pool" if times.pool is None else "how many it has in flight"
        text = f"{taken}, or for connections of its callers: {unknown} is not known, and it may be either"
        return Reason("THREADS_TAKEN", text)
    in_flight = f"with {times.in_flight:.0f} of {times.pool} of its threads in flight at the most, by its spans"
    if times.in_flight >= HALF_FULL * times.pool:
        return Reason("THREADS_TAKEN", f"{taken}, {in_flight}")
    text = f"requests wait {share:.0%} of the end to end time before they reach it, {in_flight}"
    return Reason("CALLERS_WAIT", f"{text}: the limit is on the callers' side (connections, sockets)")


def _mean_ms(sum_ns: int, times: PathTimes) -> float:
    return sum_ns / times.traces / 1e6 if times.traces else 0.0


def _order(slower: bool, ranked: Ranked) -> tuple[bool, float, str]:
    by = ranked.longer_ms if slower and ranked.longer_ms is not None else ranked.share_of_end_to_end
    return not ranked.is_cpu_candidate, -by, ranked.service
