"""A power cut under load: what was acknowledged, and not on a disk yet, is gone. How much, and does all start again?"""

import time
from dataclasses import dataclass, field
from functools import partial

from sluice_kit.faults.counted import known, wrong
from sluice_kit.faults.machine import Machine, kill_all
from sluice_kit.local_stack.driver import Stack, drive
from sluice_kit.local_stack.kills import newest_window, wait_current
from sluice_kit.local_stack.topics import end_offsets
from sluice_kit.reference.truth import TABLES, Reference, sent_since
from sluice_kit.traffic.traffic import Traffic

LOADED_S = 40.0
SPANS_PER_S = 300
#: After the last span, for the windows of it; longer while anything differs.
REST_S, LONGEST_REST_S = 20.0, 90.0


@dataclass
class Left:
    """acknowledged: spans that the collector answered for. gone: of these, not on the topic. current_s: from the cut
    until tables had newer spans. Rows by table, where there are any: missing, which the topic demands; other, with
    other sums than it demands; more, of records that the topic lost and the tables have.
    examples: the first and the last key that is missing. said: by the doctor at the end."""

    acknowledged: int
    gone: int
    current_s: float
    missing: dict[str, int] = field(default_factory=dict)
    other: dict[str, int] = field(default_factory=dict)
    more: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def after_power_cut(stack: Stack, machine: Machine, prefix: str) -> Left:
    """Raises StackError where the stack does not start again, AssertionError where no new span comes through it."""
    start = end_offsets(stack, "otlp_spans")
    with Traffic(stack.address["SLUICE_OTLP_GRPC"], prefix, SPANS_PER_S, seed=1) as traffic:
        time.sleep(LOADED_S)
        clock = time.monotonic()
        kill_all()
        machine.lose_unsynced()
        drive("up", "--no-demo")
        wait_current(partial(known, newest_window, stack, prefix), time.time())
        current_s = time.monotonic() - clock
        traffic.stop(within_s=180)
    time.sleep(REST_S)
    reference, ids = sent_since(stack, start, prefix)
    left, waited_to = (
        Left(len(traffic.acknowledged), len(traffic.acknowledged - set(ids)), current_s),
        time.time() + LONGEST_REST_S,
    )
    while _compared(stack, prefix, reference, left) and time.time() < waited_to:
        time.sleep(5)
    left.said = wrong(stack)
    return left


def _compared(stack: Stack, prefix: str, reference: Reference, left: Left) -> bool:
    """Whether anything differs; left is filled anew."""
    left.missing, left.other, left.more, left.examples = {}, {}, {}, []
    for table in TABLES:
        expected, actual = table.expected(reference), table.read(stack, prefix)
        missing, more = sorted(expected.keys() - actual.keys()), actual.keys() - expected.keys()
        other = [key for key in expected.keys() & actual.keys() if expected[key] != actual[key]]
        for rows, keys in ((left.missing, missing), (left.other, other), (left.more, more)):
            if keys:
                rows[table.name] = len(keys)
        left.examples += [f"{table.name} misses {key}" for key in (*missing[:1], *missing[-1:])]
    return bool(left.missing or left.other)
