"""Charts of metrics from Prometheus, and the PromQL in them."""

from grafana_foundation_sdk.builders import common, timeseries
from grafana_foundation_sdk.models.common import GraphThresholdsStyleMode

from generate.parts import lines, steps
from generate.prometheus import metric

_EMPTY = "Prometheus has no such metric: it does not read these processes, or the data source is another."


def measured(title: str, text: str, unit: str, *series: tuple[str, str]) -> timeseries.Panel:
    """A chart of PromQL. series: expression, and legend."""
    queries = [metric(sql, legend, chr(ord("A") + nth)) for nth, (sql, legend) in enumerate(series)]
    return lines(title, text, *queries, unit=unit, empty=_EMPTY)


def limited(panel: timeseries.Panel, *above: tuple[float, str]) -> timeseries.Panel:
    """Draws a line at each value, in its colour. deploy/alerts/rules.yaml has the value of each red one."""
    line = common.GraphThresholdsStyleConfig().mode(GraphThresholdsStyleMode.LINE)
    return panel.thresholds(steps(*above)).thresholds_style(line)


def rate(name: str, by: str) -> str:
    """PromQL of a counter's growth per second, summed by labels."""
    return f'sum by ({by}) (rate({name}{{job=~"$job"}}[$__rate_interval]))'


def highest(name: str, by: str) -> str:
    """PromQL of a gauge's largest value by labels."""
    return f'max by ({by}) ({name}{{job=~"$job"}})'
