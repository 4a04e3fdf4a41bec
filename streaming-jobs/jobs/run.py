"""Submits streaming jobs to a Flink cluster, as one Flink job: `flink run -py streaming-jobs/jobs/run.py NAME...`

The named jobs become one statement set, so that they read each topic once. Parallelism, checkpoints and the state
backend are the cluster's configuration; addresses and the places of passwords come from the environment: see
docs/jobs.md. It waits until ClickHouse has the schema that the jobs need.

In application mode, Flink's JobManager runs it as its program (`standalone-job`, class
org.apache.flink.client.python.PythonDriver), and submits the job that it defines: see docs/jobs-in-pods.md.
"""

import argparse
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import accounts
import call_graph
import concurrency
import container_latency
import critical_paths
import gaps
import resource_metrics
import schema_version
import sources
import span_rules
import spans
import starts
import stores
from settings import FLINK_JOB, SETTINGS, Addresses, Settings, SettingsError

if TYPE_CHECKING:
    from pyflink.table import StatementSet, StreamTableEnvironment, TableConfig

JOBS: dict[str, ModuleType] = {
    job.NAME: job for job in (concurrency, call_graph, critical_paths, container_latency, resource_metrics)
}
NO_CHECKPOINTS = (
    "execution.checkpointing.interval is not set: without checkpoints a job that fails forgets its sums, its open "
    "traces and its offsets. Set it in Flink's config.yaml (to 5s, say), or by "
    "`flink run -Dexecution.checkpointing.interval=5s`; --without-checkpoints runs the job all the same"
)
STATE_BACKEND = "dev.sluice.flink.SteadyStateBackend$Factory"
JAR = Path(__file__).parents[1] / "functions/target/sluice-functions.jar"


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(
        prog="run.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    root.add_argument("jobs", nargs="+", choices=sorted(JOBS), metavar="NAME", help=f"one or more of {sorted(JOBS)}")
    root.add_argument("--jar", type=Path, default=JAR, help="the Java functions (default: %(default)s)")
    root.add_argument("--name", help="of the Flink job and its consumer group (default: sluice- and the jobs' names)")
    root.add_argument(
        "--start",
        default=starts.EARLIEST,
        metavar="WHERE",
        help=f"without a savepoint: {starts.FORMS}; see docs/jobs-restore.md",
    )
    root.add_argument(
        "--span-rules",
        type=Path,
        default=span_rules.FILE,
        metavar="FILE",
        help="rules for spans that hold no thread and no connection, such as probes and waits for connections "
        "(default: %(default)s)",
    )
    root.add_argument("--no-dead-letters", action="store_true", help="another Flink job of the same topic writes them")
    root.add_argument(
        "--without-checkpoints",
        action="store_true",
        help="run although execution.checkpointing.interval is not set: with the first failure, its own or a store's, "
        "the job begins again at --start with empty sums and without the rows that waited to be written",
    )
    root.add_argument("--explain", action="store_true", help="print the plan instead of submitting")
    root.add_argument("--check", action="store_true", help="only check the options")
    for name, setting in SETTINGS.items():
        text = f"{setting.help} ({setting.low} to {setting.high}; default: {setting.default})"
        root.add_argument(f"--{name}", type=int, default=setting.default, metavar="N", help=text)
    return root


def flink_job(names: list[str]) -> str:
    """The name of a Flink job of these jobs. Flink jobs of one cluster or broker need different names."""
    return FLINK_JOB if set(names) == set(JOBS) else f"sluice-{'+'.join(dict.fromkeys(names))}"


def configuration(settings: Settings, jobs: list[ModuleType]) -> dict[str, str]:
    """Flink options of the Flink job."""
    tables = {table for job in jobs for table in span_tables(job, settings)}
    parameters = dict(settings.job_parameters())
    if tables:  # Flink takes no parameter without a value
        parameters["sluice.span-tables"] = ";".join(sorted(tables))
    return {
        "pipeline.name": settings.flink_job,
        # Part of every savepoint: it bounds the parallelism and can never change.
        "pipeline.max-parallelism": str(settings["max-parallelism"]),
        "pipeline.global-job-parameters": ",".join(f"{key}:{value}" for key, value in parameters.items()),
        "table.local-time-zone": "UTC",
        "table.exec.state.ttl": f"{settings['state-ttl-ms']} ms",
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": f"{settings['mini-batch-ms']} ms",
        "table.exec.mini-batch.size": "20000",
        # Rows pass through a task without a copy: no function and no sink keeps a row that it receives.
        "pipeline.object-reuse": "true",
        # Stores decide by version which row is newer, so sinks may write rows in any order.
        "table.exec.sink.upsert-materialize": "NONE",
        # Operators get stable uids from the plan, so that a savepoint finds its state again.
        "table.exec.uid.generation": "ALWAYS",
    }


def keep_sums_by_elapsed_time(config: "TableConfig") -> None:
    """Puts the state backend of Flink's configuration into ours, which counts `--state-ttl-ms` by elapsed time."""
    backend = config.get("state.backend.type", "hashmap")
    if backend != STATE_BACKEND:
        config.set("sluice.state-backend", backend)
        config.set("state.backend.type", STATE_BACKEND)


def span_tables(job: ModuleType, settings: Settings) -> list[str]:
    """Views of the spans that a job reads: its SPAN_TABLES, or span_tables() where they depend on the settings."""
    names: list[str] = job.span_tables(settings) if hasattr(job, "span_tables") else getattr(job, "SPAN_TABLES", [])
    return names


def dead_letter_views(jobs: list[ModuleType]) -> dict[str, str]:
    """For each topic that the jobs read, the view of its dead letters: the same for all jobs of that topic."""
    return {getattr(job, "TOPIC", accounts.SPANS): job.REJECTED for job in jobs}


def statement_set(
    environment: "StreamTableEnvironment", jobs: list[ModuleType], settings: Settings, *, letters: bool
) -> "StatementSet":
    """Defines tables, functions and views, and gathers the INSERTs of the jobs."""
    for ddl in [*sources.definitions(settings), *stores.definitions(settings)]:
        environment.execute_sql(ddl)
    functions = {name: java for job in jobs for name, java in job.FUNCTIONS.items()}
    for name, java in (functions | gaps.FUNCTIONS).items():
        environment.execute_sql(f"CREATE TEMPORARY SYSTEM FUNCTION {name} AS '{java}' LANGUAGE JAVA")
    topics = list(dead_letter_views(jobs))
    if accounts.SPANS in topics:
        spans.define(environment, settings)
    statements = environment.create_statement_set()
    # Views that several jobs share are equal under one name, so that Flink plans them once.
    views = {name: query for job in jobs for name, query in job.views(settings).items()}
    for topic in topics:
        views |= gaps.views(topic)
    for name, query in views.items():
        # Not CREATE VIEW: Flink would plan its text anew, and run it apart, for each INSERT that reads it.
        environment.create_temporary_view(name, environment.sql_query(query))
    for job in jobs:
        for insert in job.inserts(settings):
            statements.add_insert_sql(insert)
    statements.add_insert_sql(gaps.insert(settings, topics))
    if letters:
        for topic, rejected in dead_letter_views(jobs).items():
            statements.add_insert_sql(accounts.dead_letters(rejected, topic))
    return statements


def complain(line: str) -> None:
    print(f"run.py: {line}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    try:
        values = {name: getattr(options, name.replace("-", "_")) for name in SETTINGS}
        name = options.name or flink_job(options.jobs)
        settings = Settings(Addresses.from_environment(), values, name, options.start, options.span_rules)
    except SettingsError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    if options.check:
        return 0
    if not options.jar.is_file():
        print(
            f"run.py: no jar at {options.jar}: build it with `mvn -f streaming-jobs/functions package`", file=sys.stderr
        )
        return 2

    # Imported here so that --help and illegal settings need no JVM.
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import StreamTableEnvironment

    stream = StreamExecutionEnvironment.get_execution_environment()
    stream.add_jars(options.jar.resolve().as_uri())
    if not (
        stream.get_checkpoint_config().is_checkpointing_enabled() or options.without_checkpoints or options.explain
    ):
        print(f"run.py: {NO_CHECKPOINTS}", file=sys.stderr)
        return 2
    environment = StreamTableEnvironment.create(stream)
    keep_sums_by_elapsed_time(environment.get_config())
    jobs = [JOBS[name] for name in dict.fromkeys(options.jobs)]
    for key, value in configuration(settings, jobs).items():
        environment.get_config().set(key, value)
    if not options.explain:
        database = settings.addresses.clickhouse
        schema_version.wait(
            lambda: schema_version.missing(database), lambda line: print(f"run.py: {line}", file=sys.stderr, flush=True)
        )
    statements = statement_set(environment, jobs, settings, letters=not options.no_dead_letters)
    if options.explain:
        print(statements.explain())
        return 0
    result = statements.execute()
    client = result.get_job_client()
    print(f"submitted {name}: {client.get_job_id() if client else 'no job id'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
