"""Prints the plans of each set of so many jobs, and of all, as JSON {"a+b": plan}: `plans.py 1 2`. One JVM for all.

Needs no servers. Run with the interpreter of the Flink environment.
"""

import itertools
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "jobs"))

import run
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import StreamTableEnvironment
from settings import SETTINGS, Addresses, Settings


def main(sizes: list[int]) -> None:
    settings = Settings(Addresses.from_environment({}), {name: setting.default for name, setting in SETTINGS.items()})
    subsets = [names for size in (*sizes, len(run.JOBS)) for names in itertools.combinations(run.JOBS, size)]
    plans = {}
    for names in subsets:
        stream = StreamExecutionEnvironment.get_execution_environment()
        stream.set_parallelism(1)  # with more, the stage would ask Kafka for the partitions
        stream.add_jars(run.JAR.resolve().as_uri())
        environment = StreamTableEnvironment.create(stream)
        jobs = [run.JOBS[name] for name in names]
        for key, value in run.configuration(settings, jobs).items():
            environment.get_config().set(key, value)
        letters = names == subsets[-1]
        plans["+".join(names)] = run.statement_set(environment, jobs, settings, letters=letters).explain()
    print(json.dumps(plans))


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]])
