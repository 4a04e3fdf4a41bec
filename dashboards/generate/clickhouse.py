"""Queries of Grafana's ClickHouse plugin (grafana-clickhouse-datasource 4), which the SDK lacks."""

from dataclasses import dataclass
from textwrap import dedent
from typing import Literal

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.common import DataSourceRef

PLUGIN = "grafana-clickhouse-datasource"
# A variable instead of a server's uid: the user chooses.
DATASOURCE = DataSourceRef(type_val=PLUGIN, uid="${datasource}")
_FORMATS = {"time_series": 0, "table": 1}


@dataclass(frozen=True)
class Query(Dataquery, Builder["Query"]):
    """One SQL query of a panel or an annotation.

    As a time series the first column is `time`, ascending; a text column makes a series of each of its values.
    """

    sql: str
    shape: Literal["time_series", "table"]
    ref_id: str = "A"

    def build(self) -> "Query":
        return self

    def to_json(self) -> dict[str, object]:
        return {
            "refId": self.ref_id,
            "datasource": DATASOURCE.to_json(),
            "editorType": "sql",
            "queryType": "timeseries" if self.shape == "time_series" else "table",
            "format": _FORMATS[self.shape],
            "rawSql": dedent(self.sql).strip(),
        }


def time_series(sql: str, ref_id: str = "A") -> Query:
    return Query(sql, "time_series", ref_id)


def table(sql: str, ref_id: str = "A") -> Query:
    return Query(sql, "table", ref_id)
