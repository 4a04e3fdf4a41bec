"""Variables of the dashboard: the data source, one pool (service, side, peer), and its threshold."""

from textwrap import dedent

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import VariableModel, VariableOption, VariableRefresh

from generate.clickhouse import DATASOURCE, PLUGIN


def text(variable: str) -> str:
    """The variable's value as a string of SQL. A user may type a value, or a link may have it: percent-encoded it has
    no character that ends a string. Grafana's own `singlequote` and `sqlstring` keep backslashes."""
    return f"decodeURLComponent('${{{variable}:percentencode}}')"


def number(variable: str) -> str:
    """The variable's value as a number; ClickHouse refuses the query for another value."""
    return f"toFloat64('${{{variable}:percentencode}}')"


# A server pool has no peer, and Grafana shows no empty choice: `-` replaces it.
PEER = f"if({text('peer')} = '-', '', {text('peer')})"
IN_POOL = f"service = {text('service')} AND side = {text('side')} AND peer = {PEER}"
POOL_ARGUMENTS = (
    f"service = {text('service')}, side = {text('side')}, peer = {PEER}, "
    f"threshold_ms = {number('threshold_ms')}, from_ms = ${{__from}}, until_ms = ${{__to}}"
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
            f"SELECT DISTINCT toString(side) AS side {_KNOWN} AND service = {text('service')} ORDER BY side",
        ),
        _query(
            "peer",
            "Peer",
            f"SELECT DISTINCT if(peer = '', '-', peer) AS choice {_KNOWN} "
            f"AND service = {text('service')} AND side = {text('side')} ORDER BY choice",
        ),
        dashboard.CustomVariable("threshold_ms")
        .label("Threshold (ms)")
        .description("Response times up to it count as goodput. Type any number.")
        .values(",".join(str(threshold) for threshold in THRESHOLDS_MS))
        .current(chosen)
        .allow_custom_value(True),
    ]
