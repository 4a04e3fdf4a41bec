"""Connection subsets: whether there are any, what data they rest on, and which data is missing."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

import grpc

from sluice.cli.calls import pages
from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError
from sluice.cli.doctor.probe import get
from sluice.cli.doctor.prometheus import sums
from sluice.cli.doctor.recommender import channel_of
from sluice.cli.environment import Addresses
from sluice.cli.pools.text import moment, seconds
from sluice.cli.subsets.subset_table import state_name
from sluice.subsets.v1 import subset_service_pb2 as api
from sluice.subsets.v1.explanation_pb2 import Pair, Run
from sluice.subsets.v1.subset_pb2 import STATE_HELD, Subset
from sluice.subsets.v1.subset_service_pb2_grpc import SubsetServiceStub

# An application has several pairs, and one explanation names all that its run lacked.
_MOST_PAIRS = 20
_MOST_LINES = 6
_REMEDIES = {
    "NO_ADDRESS": "set `addresses` of the service in the decider's file, or send its containers with NotifyScaling",
    "FEW_SAMPLES": "wait until 20 windows of 10 s had 20 requests or more each, in SERVER spans of its containers",
    " utilization of": "send metrics of these hosts (docs/metrics-read.md), under the host names of the spans",
    "no host of": "send `host.name` or `k8s.node.name` with the spans",
    "no containers of": "send SERVER spans of them, or list `pairs` without them",
}


def subsets(where: Addresses, timeout_s: float) -> Diagnosis:
    with channel_of(where) as channel:
        stub = SubsetServiceStub(channel)
        try:
            subsets_read = list(pages(stub.ListSubsets, api.ListSubsetsRequest(), "subsets", timeout_s))
            runs = [] if not subsets_read else list(_runs(stub, subsets_read, timeout_s))
        except grpc.RpcError as error:
            raise NotAnsweringError(f"the recommender does not list subsets ({error.code().name})") from None
    return judge(subsets_read, runs, 0 if subsets_read else _configured(where, timeout_s), datetime.now(UTC))


def judge(subsets: list[Subset], runs: Iterable[Run], configured: int, now: datetime) -> Diagnosis:
    """runs: the runs that made the subsets. configured: applications of the decider, 0 where there are subsets. now:
    with time zone."""
    if not subsets:
        if not configured:
            return Diagnosis("ok", "none configured: the decider's file has no `subsets`")
        why = "read the decider's log: the line that begins with `subsets of` has the cause"
        return Diagnosis("warn", f"{configured} configured, and there are no subsets yet", why)
    pairs = {(subset.key.upstream, subset.key.downstream) for subset in subsets}
    states = Counter(state_name(subset.state) for subset in subsets)
    text = f"{len(subsets)} of {len(pairs)} {'pair' if len(pairs) == 1 else 'pairs'}: " + ", ".join(
        f"{n} {state}" for state, n in sorted(states.items())
    )
    if newest := [moment(subset.computed_at) for subset in subsets if subset.HasField("computed_at")]:
        text += f"; the newest is {seconds((now - max(newest)).total_seconds())} old"
    wrong = _wrong(subsets, runs)
    if not wrong:
        return Diagnosis("ok", text)
    more = f" and {len(wrong) - _MOST_LINES} more" if len(wrong) > _MOST_LINES else ""
    return Diagnosis("warn", f"{text}; {'; '.join(list(wrong)[:_MOST_LINES])}{more}", _remedy(wrong))


def _wrong(subsets: Iterable[Subset], runs: Iterable[Run]) -> dict[str, str]:
    """The text of each problem, once, and the key by which _REMEDIES has its remedy."""
    wrong: dict[str, str] = {}
    for subset in subsets:
        for reason in subset.reasons:
            text = reason.text or reason.code
            service = subset.key.downstream
            wrong[text if subset.state == STATE_HELD or service in text else f"{service}: {text}"] = reason.code
    # Missing addresses and samples are already reasons of each subset that lacks them.
    lines = [line for run in runs for line in run.missing]
    wrong |= {line: line for line in lines if "address" not in line and "sample" not in line}
    return wrong


def _remedy(wrong: dict[str, str]) -> str:
    of_all = [text for key, text in _REMEDIES.items() if any(key in by for by in wrong.values())]
    return "; ".join(of_all) or "`./sluice subsets explain UPSTREAM DOWNSTREAM` shows what they rest on"


def _runs(stub: SubsetServiceStub, subsets: Iterable[Subset], timeout_s: float) -> Iterable[Run]:
    pairs = sorted({(subset.key.upstream, subset.key.downstream) for subset in subsets})
    for up, down in pairs[:_MOST_PAIRS]:
        try:
            answer = stub.ExplainPair(
                api.ExplainPairRequest(pair=Pair(upstream=up, downstream=down)), timeout=timeout_s
            )
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.NOT_FOUND:  # it ended since the list
                continue
            raise
        yield answer.run


def _configured(where: Addresses, timeout_s: float) -> int:
    answer = get(f"{where.decider}/metrics", timeout_s)
    return int(sums(answer.text).get("sluice_decider_applications", 0)) if answer.ok else 0
