"""Faults in turn, under load from a counted source: every acknowledged span is in every table, and once."""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import requests
from neo4j.exceptions import DriverError, Neo4jError

from sluice_kit.faults.kinds import Fault
from sluice_kit.faults.machine import Machine
from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.kills import newest_in_graph, newest_window, wait_current
from sluice_kit.local_stack.topics import end_offsets
from sluice_kit.reference.copies import check_whichever_copy
from sluice_kit.reference.truth import sent_since
from sluice_kit.traffic.traffic import Traffic
from sluice_kit.waiting import eventually

SPANS_PER_S = 300
# Longer than a checkpoint's interval: each fault finds another state than the one before left.
PAUSE_S = 3.0
# When the doctor is asked: what it waits for itself is over by the first. By the second, leases and what waits longer
# have ended.
ASKED_AFTER_S = 8.0, 45.0


@dataclass(frozen=True)
class Suffered:
    """seen: what `./sluice doctor` found wrong while the fault lasted, and whether it befell nobody. refused: requests
    of the source that were sent again. tables_s, graph_s: from the end of the fault until the stores had what ended
    after it."""

    fault: Fault
    seen: list[str]
    refused: int
    tables_s: float
    graph_s: float


@dataclass
class Counted:
    """acknowledged: spans that the collector answered for. repeats: copies of them on the topic."""

    rows: list[Suffered] = field(default_factory=list)
    acknowledged: int = 0
    repeats: int = 0


def counted(stack: Stack, machine: Machine, faults: Iterable[Fault], prefix: str) -> Counted:
    """Raises AssertionError where a store never gets current again, or a table differs from the truth in the end.

    Services of the traffic begin with `prefix`, which no other test uses.
    """
    start, found = end_offsets(stack, "otlp_spans"), Counted()
    with Traffic(stack.address["SLUICE_OTLP_GRPC"], prefix, SPANS_PER_S, seed=1) as traffic:
        wait_current(partial(newest_window, stack, prefix), time.time())
        for fault in faults:
            time.sleep(PAUSE_S)
            found.rows.append(_suffered(stack, machine, fault, prefix, traffic))
            print(f"{fault}: {found.rows[-1]}", flush=True)
        traffic.stop(within_s=180)
    reference, ids = sent_since(stack, start, prefix)
    assert set(ids) >= traffic.acknowledged, f"{len(traffic.acknowledged - set(ids))} acknowledged spans are lost"
    assert set(ids) == traffic.acknowledged
    check_whichever_copy(stack, prefix, reference)
    found.acknowledged, found.repeats = len(traffic.acknowledged), len(ids) - len(set(ids))
    return found


def _suffered(stack: Stack, machine: Machine, fault: Fault, prefix: str, traffic: Traffic) -> Suffered:
    seen: dict[str, str] = {}
    before, began = traffic.retries, time.monotonic()
    with machine.suffers(fault) as spared:
        for after_s in ASKED_AFTER_S:
            if fault.seconds > after_s:
                time.sleep(max(0.0, after_s - (time.monotonic() - began)))
                seen = with_new(seen, wrong(stack), after_s)
        time.sleep(max(0.0, fault.seconds - (time.monotonic() - began)))
    ended, clock = time.time(), time.monotonic()
    try:
        wait_current(partial(known, newest_window, stack, prefix), ended)
        tables_s = time.monotonic() - clock
        wait_current(partial(known, newest_in_graph, stack, prefix), ended)
        graph_s = time.monotonic() - clock
    except AssertionError as stale:
        raise AssertionError(f"{fault}: {stale}; the doctor finds {wrong(stack)}") from stale
    failing = eventually(
        lambda: [": ".join(text.split(": ")[:2]) for text in wrong(stack) if text[:4] == "fail"], [], 0
    )
    assert not failing, f"{fault}: long after its end the doctor finds {wrong(stack)}"
    return Suffered(fault, [*seen.values(), *([spared] if spared else [])], traffic.retries - before, tables_s, graph_s)


def with_new(seen: dict[str, str], now: list[str], after_s: float) -> dict[str, str]:
    """Adds the findings whose level and subject are new, with their time: `fail after 45 s: kafka: health: ...`."""
    found = dict(seen)
    for text in now:
        found.setdefault(": ".join(text.split(": ")[:2]), text.replace(" ", f" after {after_s:.0f} s: ", 1))
    return found


def known(newest: Callable[[Stack, str], float], stack: Stack, prefix: str) -> float:
    """0 while the store does not answer."""
    try:
        return newest(stack, prefix)
    except (requests.RequestException, AssertionError, Neo4jError, DriverError):
        return 0.0


def wrong(stack: Stack) -> list[str]:
    """What the doctor does not find well, each as `level stage: what: text`."""
    answer = stack.sluice("doctor", "-o", "json", "--timeout", "3")
    try:
        findings = json.loads(answer.stdout)
    except json.JSONDecodeError:
        return [f"fail doctor: no answer: {answer.stderr.strip()[-300:]}"]
    return [f"{one['level']} {one['stage']}: {one['what']}: {one['text']}" for one in findings if one["level"] != "ok"]
