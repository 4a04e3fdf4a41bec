"""Panels of containers: latency, CPU, and contention on their hosts."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.builders import timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import table, time_series
from generate.levels import newest
from generate.parts import FULL, lines, rows, with_units
from generate.variables import among

# The view has a histogram of each container per 10 s, and computes rates of all metrics in its range.
_SAMPLES = f"sluice.v_container_latency_between({newest(60)})"
_CHOSEN = among("service", "services")
_NONE = "No request of these services ended in the newest hour of the time range."
_NO_METRICS = "No metrics of these containers and hosts: the collector beside them sends none."


def panels() -> list[Builder[Panel]]:
    return [latency(), requests(), cpu(), hosts()]


def contention() -> list[Builder[Panel]]:
    return [by_utilization(), uneven()]


def _by_container(value: str, condition: str = "true") -> str:
    return f"""
        SELECT window AS time, concat(service, ' ', instance) AS container, {value} AS value
        FROM {_SAMPLES}
        WHERE {_CHOSEN} AND {condition}
        ORDER BY time
    """


def latency() -> timeseries.Panel:
    text = "p95 of a container's own requests per 10 s, in the newest hour of the time range."
    panel = lines("p95 of containers", text, time_series(_by_container("p95_ms")), unit="ms", empty=_NONE)
    return panel.display_name("${__field.labels.container}")


def requests() -> timeseries.Panel:
    text = "Ended requests per second of each container, in the newest hour of the time range."
    sql = _by_container("requests_per_s")
    panel = lines("Requests of containers", text, time_series(sql), unit="reqps", empty=_NONE)
    return panel.display_name("${__field.labels.container}")


def cpu() -> timeseries.Panel:
    text = "CPU cores that each container uses, in the newest hour of the time range."
    sql = _by_container("container_cpu_cores", "container_cpu_cores IS NOT NULL")
    panel = lines("CPU of containers", text, time_series(sql), empty=_NO_METRICS)
    return panel.display_name("${__field.labels.container}")


def hosts() -> timeseries.Panel:
    sql = f"""
        SELECT window AS time, host, cpu_utilization AS value
        FROM sluice.v_host_utilization_between({newest(60)})
        WHERE cpu_utilization IS NOT NULL
        ORDER BY time
    """
    text = "CPU utilization of every host with metrics, in the newest hour of the time range."
    panel = lines("CPU of hosts", text, time_series(sql), unit="percentunit", empty=_NO_METRICS)
    return panel.max(1).display_name("${__field.labels.host}")


def by_utilization() -> table_panel.Panel:
    sql = f"""
        SELECT
            service,
            floor(host_cpu_utilization * 10) / 10 AS host_cpu_from,
            uniqExact(instance) AS containers,
            sum(requests) AS ended,
            avg(requests_per_s) AS rate_per_container,
            latency_quantile_ms(sumMap(latency), 0.5) AS p50_ms,
            latency_quantile_ms(sumMap(latency), 0.95) AS p95_ms
        FROM {_SAMPLES}
        WHERE {_CHOSEN} AND host_cpu_utilization IS NOT NULL
        GROUP BY service, host_cpu_from
        ORDER BY service, host_cpu_from
        LIMIT 500
    """
    text = "Latency by the CPU utilization of the host, in steps of 10 %. Contention shows as growing latency."
    panel = rows("Latency by utilization of the host", text, table(sql), _NO_METRICS).span(FULL)
    return with_units(panel, host_cpu_from="percentunit", rate_per_container="reqps", p50_ms="ms", p95_ms="ms")


def uneven() -> table_panel.Panel:
    sql = f"""
        SELECT service, count() AS containers, avg(p95) AS mean_p95_ms, argMax(instance, p95) AS slowest,
               max(p95) AS slowest_p95_ms, slowest_p95_ms / mean_p95_ms AS slowest_to_mean
        FROM
        (
            SELECT service, instance, latency_quantile_ms(sumMap(latency), 0.95) AS p95
            FROM {_SAMPLES}
            WHERE {_CHOSEN}
            GROUP BY service, instance
        )
        GROUP BY service
        ORDER BY slowest_to_mean DESC
        LIMIT 200
    """
    text = "The container with the largest p95 of each service, against the mean of its containers."
    panel = rows("Slowest containers", text, table(sql), _NONE).span(FULL)
    return with_units(panel, mean_p95_ms="ms", slowest_p95_ms="ms")
