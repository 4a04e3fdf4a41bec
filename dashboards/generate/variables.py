"""Variables of the dashboard: the data source, one pool (service, side, peer), and the threshold that judges it."""

from textwrap import dedent

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import VariableModel, VariableOption, VariableRefresh

from generate.clickhouse import DATASOURCE, PLUGIN

# A server pool has no peer, and Grafana shows no empty choice: `-` stands for it.
PEER = "if(${peer:singlequote} = '-', '', ${peer:singlequote})"
IN_POOL = f"service = ${{service:singlequote}} AND side = ${{side:singlequote}} AND peer = {PEER}"
POOL_ARGUMENTS = (
    f"service = ${{service:singlequote}}, side = ${{side:singlequote}}, peer = {PEER}, "
    "threshold_ms = ${threshold_ms}, from_ms = ${__from}, until_ms = ${__to}"
)
_KNOWN = "FROM sluice.recommendations WHERE at >= now() - INTERVAL 1 DAY"
THRESHOLDS_MS = (50, 100, 150, 250, 500, 1000)


def _query(name: str, label: str, sql: str) -> dashboard.QueryVariable:
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(DATASOURCE)
        .query({"editorType": "sql", "rawSql": dedent(sql).strip()})
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .include_all(False)
        .multi(False)
    )


def variables() -> list[Builder[VariableModel]]:
    chosen = VariableOption(text="250", value="250", selected=True)
    return [
        dashboard.DatasourceVariable("datasource").label("Data source").type(PLUGIN),
        _query("service", "Service", f"SELECT DISTINCT service {_KNOWN} ORDER BY service"),
        _query(
            "side",
            "Side",
            f"SELECT DISTINCT toString(side) AS side {_KNOWN} AND service = ${{service:singlequote}} ORDER BY side",
        ),
        _query(
            "peer",
            "Peer",
            f"SELECT DISTINCT if(peer = '', '-', peer) AS choice {_KNOWN} "
            "AND service = ${service:singlequote} AND side = ${side:singlequote} ORDER BY choice",
        ),
        dashboard.CustomVariable("threshold_ms")
        .label("Threshold (ms)")
        .description("Response times up to it count as good. Any number can be typed.")
        .values(",".join(str(threshold) for threshold in THRESHOLDS_MS))
        .current(chosen)
        .allow_custom_value(True),
    ]
