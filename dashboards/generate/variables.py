"""Variables of the dashboards: the data source, a pool (service, side, peer), its threshold, and sets of services."""

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


# The value of All.
ALL = "*"


def among(column: str, variable: str) -> str:
    """A condition: the column has a value of the variable. Grafana percent-encodes several as {a,b}: a name with a
    comma can be chosen alone only."""
    value = text(variable)
    return (
        f"({value} = '{ALL}' OR {column} = {value} "
        f"OR startsWith({value}, '{{') AND has(splitByChar(',', trim(BOTH '{{}}' FROM {value})), {column}))"
    )


# A server pool has no peer, and Grafana shows no empty choice: `-` replaces it.
PEER = f"if({text('peer')} = '-', '', {text('peer')})"
# Before the first decision the variable is empty. A view refuses a side that does not exist, as `=` does; IN does not.
SIDE = f"if({text('side')} IN ('server', 'client', 'consumer'), {text('side')}, 'server')"
IN_POOL = f"service = {text('service')} AND side IN ({text('side')}) AND peer = {PEER}"
_KNOWN = "FROM sluice.recommendations WHERE at >= now() - INTERVAL 1 DAY"
THRESHOLDS_MS = (50, 100, 150, 250, 500, 1000)


def source() -> Builder[VariableModel]:
    return dashboard.DatasourceVariable("datasource").label("Data source").type(PLUGIN)


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


def several(name: str, label: str, sql: str) -> dashboard.QueryVariable:
    """A variable of many values, at first All. `sql` has one column, in order."""
    everything = VariableOption(text="All", value="$__all", selected=True)
    return _query(name, label, sql).include_all(True).multi(True).all_value(ALL).current(everything)


def services() -> dashboard.QueryVariable:
    """The services of pools."""
    return several("services", "Services", f"SELECT DISTINCT service {_KNOWN} ORDER BY service")


def traces() -> list[Builder[VariableModel]]:
    """The address of a trace, before and after its id."""
    return [
        dashboard.TextBoxVariable("traces")
        .label("Traces at")
        .description("Address of a trace up to its id, as Jaeger's http://127.0.0.1:16686/trace/")
        .default_value("http://127.0.0.1:16686/trace/"),
        dashboard.TextBoxVariable("traces_end")
        .label("After the id")
        .description("The rest of the address after the id. Jaeger's has none, that of Tempo in Explore has one."),
    ]


def pool() -> list[Builder[VariableModel]]:
    chosen = VariableOption(text="250", value="250", selected=True)
    return [
        source(),
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
            f"AND service = {text('service')} AND side IN ({text('side')}) ORDER BY choice",
        ),
        dashboard.CustomVariable("threshold_ms")
        .label("Threshold (ms)")
        .description("Response times up to it count as goodput. Type any number.")
        .values(",".join(str(threshold) for threshold in THRESHOLDS_MS))
        .current(chosen)
        .allow_custom_value(True),
        *traces(),
    ]
