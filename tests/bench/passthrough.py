"""The floor, as a Flink job: the jobs' own source, its bytes handed to a sink that drops them. For `flink run -py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "streaming-jobs/jobs"))

import sources
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import StreamTableEnvironment
from settings import SETTINGS, Addresses, Settings

environment = StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment())
environment.get_config().set("pipeline.object-reuse", "true")  # as the jobs have it
settings = Settings(Addresses.from_environment(), {name: setting.default for name, setting in SETTINGS.items()})
for ddl in sources.definitions(settings):
    environment.execute_sql(ddl)
environment.execute_sql(
    "CREATE TEMPORARY TABLE nowhere (message BYTES, record_time TIMESTAMP_LTZ(3), `partition` INT, `offset` BIGINT)"
    " WITH ('connector' = 'blackhole')"
)
environment.execute_sql("INSERT INTO nowhere SELECT message, record_time, `partition`, `offset` FROM otlp_spans")
