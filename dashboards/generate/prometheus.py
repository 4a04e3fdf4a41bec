"""Queries of Prometheus, which reads the metrics of Sluice's processes."""

from grafana_foundation_sdk.builders import prometheus
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.common import DataSourceRef

PLUGIN = "prometheus"
PROMETHEUS = DataSourceRef(type_val=PLUGIN, uid="${prometheus}")
Target = Builder[Dataquery]


def metric(expression: str, legend: str, ref_id: str = "A") -> prometheus.Dataquery:
    """A time series of PromQL; `legend` has labels in double braces."""
    return prometheus.Dataquery().datasource(PROMETHEUS).expr(expression).legend_format(legend).range().ref_id(ref_id)
