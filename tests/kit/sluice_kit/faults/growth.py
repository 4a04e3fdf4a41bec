"""What a stack takes while instances come and go for an hour: memory, descriptors, state, parts, topics, series."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import requests

from sluice_kit.faults.counted import known
from sluice_kit.local_stack.driver import STATE, Stack
from sluice_kit.local_stack.kills import newest_window, wait_current
from sluice_kit.local_stack.running_job import running
from sluice_kit.local_stack.topics import end_offsets
from sluice_kit.reference.truth import TABLES, check_all, sent_since
from sluice_kit.traffic import churn
from sluice_kit.traffic.traffic import Traffic
from stack.settings import load
from stack.supervisor import Supervisor

MIB = 1 << 20
SPANS_PER_S = 120
EVERY_S = 30.0
METRICS = {"server": "SLUICE_SERVER_METRICS", "records": "SLUICE_RECORDS_METRICS", "decider": "SLUICE_DECIDER"}
Sample = dict[str, float]
#: A quantity may be so many times what it was a quarter after the begin, and this much more, by its unit.
GROWTH = 1.25
SLACK = {"MiB": 48.0, "lines": 50.0, "descriptors": 30.0, "parts": 60.0}


def churned(stack: Stack, prefix: str, minutes: float) -> list[Sample]:
    """A sample every EVERY_S of `minutes` of churn of services that begin with `prefix`, which no other spans have; ""
    on a stack that had none, whose pools then have these instances. Raises AssertionError where a table differs from
    the truth afterwards."""
    start, samples = end_offsets(stack, "otlp_spans"), list[Sample]()
    with Traffic(stack.address["SLUICE_OTLP_GRPC"], prefix, SPANS_PER_S, seed=1, make=churn.trace) as traffic:
        wait_current(partial(known, newest_window, stack, prefix), time.time())
        began = time.monotonic()
        while (passed_s := time.monotonic() - began) < 60 * minutes:
            samples.append(sample(stack))
            print(f"minute {passed_s / 60:.1f}: {samples[-1]}", flush=True)
            time.sleep(max(0.0, EVERY_S * len(samples) - (time.monotonic() - began)))
        traffic.stop(within_s=180)
    reference, ids = sent_since(stack, start, prefix)
    assert set(ids) == traffic.acknowledged
    check_all(stack, prefix, reference, TABLES)
    return samples


def sample(stack: Stack) -> Sample:
    """Quantities by what they are, each with its unit in brackets. One that cannot be read now is not there."""
    found: Sample = {}
    for process in Supervisor(load(stack.environment)).processes():
        found[f"memory of {process.name} [MiB]"] = round(process.memory_bytes / MIB)
        with suppress(OSError):
            found[f"files of {process.name} [descriptors]"] = len(os.listdir(f"/proc/{process.pid}/fd"))
    with suppress(requests.RequestException, TypeError):
        newest = stack.flink(f"jobs/{running(stack).job_id}/checkpoints")["latest"]["completed"]
        found["Flink's state [MiB]"] = round(newest["state_size"] / MIB, 1)
    active = "SELECT count() FROM system.parts WHERE active AND database = 'sluice'"
    found["ClickHouse's parts [parts]"] = int(stack.command(active))
    for topic in ("sluice_state", "sluice_observed"):
        files = [file.stat().st_size for file in STATE.glob(f"data/kafka/{topic}-*/*.log")]
        found[f"topic {topic} [MiB]"] = round(sum(files) / MIB, 1)
    for name, variable in METRICS.items():
        with suppress(requests.RequestException):
            lines = requests.get(f"http://{stack.address[variable]}/metrics", timeout=10).text.splitlines()
            found[f"series of {name} [lines]"] = len([line for line in lines if not line.startswith("#")])
    return found


def quarters(samples: Sequence[Sample]) -> dict[str, list[float]]:
    """The mean of each quantity in the four quarters of the samples."""
    names = dict.fromkeys(name for one in samples for name in one)
    parts = [samples[len(samples) * n // 4 : len(samples) * (n + 1) // 4] for n in range(4)]
    return {name: [_mean([one[name] for one in part if name in one]) for part in parts] for name in names}


def grown(means: dict[str, list[float]]) -> list[str]:
    """Quantities that did not stay what they were in the second quarter."""
    return [
        f"{name}: {', '.join(f'{mean:.1f}' for mean in of_quarters)}"
        for name, of_quarters in means.items()
        if of_quarters[3] > GROWTH * of_quarters[1] + SLACK[name.rpartition("[")[2].rstrip("]")]
    ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
