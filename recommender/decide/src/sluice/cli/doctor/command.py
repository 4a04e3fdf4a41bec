"""The command `sluice doctor`."""

import sys
from collections import Counter
from contextlib import suppress
from dataclasses import asdict

import click

from sluice.cli.doctor import (
    alarms,
    backlog,
    clickhouse,
    clocks,
    collector,
    decider,
    disks,
    flink,
    kafka,
    left_out,
    neo4j,
    owners,
    peers,
    processes,
    recommender,
    records,
    rejected,
    retention,
    silent,
    spans,
    subsets,
    suspended,
    targets,
    time_kept,
    waiting,
)
from sluice.cli.doctor.finding import LEVELS, Check, Finding
from sluice.cli.doctor.run import run_checks
from sluice.cli.environment import addresses
from sluice.cli.numbers import Number
from sluice.cli.output import EXIT_CODES, FORMS, output_option, print_items, say
from sluice.cli.table import columns, print_table

#: What all need, then in the order in which a span passes the stages.
CHECKS = [
    Check("disks", "free space", disks.free_space),
    Check("disks", "waits", waiting.disk_waits),
    Check("processes", "suspended", suspended.suspended),
    Check("collector", "health", collector.health),
    Check("collector", "ports", collector.ports),
    Check("collector", "counters", collector.counters),
    Check("collector", "spans on the topic", spans.on_topic),
    Check("collector", "large spans", spans.large),
    Check("kafka", "topics", kafka.topics),
    Check("kafka", "lag", kafka.lag),
    Check("kafka", "retention", retention.retention),
    Check("kafka", "time kept", time_kept.time_kept),
    Check("kafka", "journal readers", backlog.journal_readers),
    Check("flink", "job", flink.job),
    Check("flink", "restarts", flink.restarts),
    Check("flink", "checkpoints", flink.checkpoints),
    Check("flink", "sinks", flink.sinks),
    Check("flink", "spans left out", left_out.left_out),
    Check("clickhouse", "reachable", clickhouse.reachable),
    Check("clickhouse", "migrations", clickhouse.migrations),
    Check("clickhouse", "broken parts", clickhouse.broken_parts),
    Check("clickhouse", "newest window", clickhouse.freshness),
    Check("clickhouse", "dead letters", clickhouse.dead_letters),
    Check("clickhouse", "names", clickhouse.names),
    Check("clickhouse", "missed records", clickhouse.missed_records),
    Check("clickhouse", "stage lags", backlog.stage_lags),
    Check("clickhouse", "rejected rows", rejected.rejected_rows),
    Check("clocks", "of instances", clocks.clocks),
    Check("clickhouse", "peers", peers.peers),
    Check("neo4j", "call graph", neo4j.edges),
    Check("decider", "health", decider.health),
    Check("decider", "periods", decider.periods),
    Check("records", "health", records.health),
    Check("recommender", "health", recommender.health),
    Check("recommender", "pools", recommender.pools),
    Check("recommender", "silent services", silent.silent),
    Check("recommender", "alarms of pools", alarms.alarms),
    Check("recommender", "owners of targets", owners.owners),
    Check("recommender", "subsets", subsets.subsets),
    Check("actuator", "health", processes.actuator),
    Check("actuator", "targets", targets.targets),
    Check("demo", "health", processes.demo),
]
_STYLES = (("ok", "green"), ("warn", "yellow"), ("fail", "bold red"), ("unknown", "magenta"))
_COLUMNS = columns("STAGE", "CHECK", "LEVEL", "FOUND~", LEVEL=_STYLES)


@click.command("doctor", epilog=EXIT_CODES)
@click.option(
    "--timeout",
    type=Number(0.1, 60),
    default=3.0,
    show_default=True,
    metavar="SECONDS",
    help="Timeout of each check; all checks run at once.",
)
@output_option(*FORMS)
def doctor(timeout: float, output: str) -> None:
    """Check each stage, from collector to actuator; name each finding and its remedy.

    \b
    Levels:
      ok       the stage works
      warn     the stage works, but needs attention
      fail     the stage does not work; the exit code is 1
      unknown  the check could not be made

    A stage whose SLUICE_* address is "none" is not checked.

    -o json prints an array of objects with stage, what, level, text and remedy ("" where there is none).

    \b
    Examples:
      sluice doctor
      sluice doctor -o json | jq -r '.[] | select(.level == "fail") | .remedy'
    """
    findings = run_checks(CHECKS, addresses(), timeout)
    with suppress(BrokenPipeError):  # the exit code still tells a reader that closed the pipe
        if output != "table":
            print_items(map(asdict, findings), output)
        else:
            _print(findings)
        sys.stdout.flush()
    if any(finding.level == "fail" for finding in findings):
        raise click.exceptions.Exit(1)


def _print(findings: list[Finding]) -> None:
    print_table(_COLUMNS, ((finding.stage, finding.what, finding.level, _text(finding)) for finding in findings))
    counts = Counter(finding.level for finding in findings)
    say(", ".join(f"{counts[level]} {level}" for level in LEVELS if counts[level]))


def _text(finding: Finding) -> str:
    return f"{finding.text}\n-> {finding.remedy}" if finding.remedy else finding.text
