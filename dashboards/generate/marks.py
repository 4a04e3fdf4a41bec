"""Annotations: changes of sizes, decisions to revert, scaling, releases, and pauses."""

from grafana_foundation_sdk.builders import dashboard

from generate.clickhouse import DATASOURCE, table
from generate.variables import IN_POOL, among, text

# The pool, in the text of a mark: a dashboard may show marks of several.
_POOL = "concat(service, ' ', toString(side), if(peer = '', '', concat(' ', peer)), ': ')"


def of_pool() -> list[dashboard.AnnotationQuery]:
    """Marks of the pool that the variables choose, and of its service."""
    return _of(IN_POOL, f"service = {text('service')}")


def of_services(variable: str) -> list[dashboard.AnnotationQuery]:
    """Marks of the services of a variable, and of their pools."""
    return _of(*[among("service", variable)] * 2)


def of_all() -> list[dashboard.AnnotationQuery]:
    """Marks of all pools and services."""
    return _of("true", "true")


def _of(pools: str, services: str) -> list[dashboard.AnnotationQuery]:
    return [actuations(pools), reverts(pools), scaling(services), releases(services), pauses(pools)]


def actuations(condition: str) -> dashboard.AnnotationQuery:
    sql = f"""
        SELECT
            at AS time,
            concat(
                {_POOL}, toString(outcome), ' ', ifNull(toString(previous), '?'),
                ' to ', ifNull(toString(read_back), '?'), ' ', detail) AS text,
            target_name AS tags
        FROM sluice.actuations FINAL
        WHERE $__timeFilter_ms(at) AND {condition} AND outcome != 'OBSERVED'
        ORDER BY time
        LIMIT 1000
    """
    return _marks("Actuations", "orange", sql)


def reverts(condition: str) -> dashboard.AnnotationQuery:
    sql = f"""
        SELECT
            min(at) AS time,
            concat({_POOL}, 'revert to ', ifNull(toString(any(target)), '?')) AS text,
            'revert' AS tags
        FROM sluice.recommendations
        WHERE $__timeFilter_ms(at) AND {condition} AND basis = 'REVERT'
        GROUP BY service, side, peer, revision
        ORDER BY time
        LIMIT 1000
    """
    return _marks("Reverts", "red", sql)


def scaling(condition: str) -> dashboard.AnnotationQuery:
    sql = f"""
        SELECT
            at AS time,
            concat(service, ':', if(isNull(cpu_limit_cores), '', concat(' CPU limit ', toString(cpu_limit_cores))),
                   if(isNull(replicas), '', concat(' replicas ', toString(replicas)))) AS text,
            'scaling' AS tags
        FROM sluice.scaling_events FINAL
        WHERE $__timeFilter_ms(at) AND {condition} AND (isNotNull(cpu_limit_cores) OR isNotNull(replicas))
        ORDER BY time
        LIMIT 1000
    """
    return _marks("Scaling", "blue", sql)


def releases(condition: str) -> dashboard.AnnotationQuery:
    sql = f"""
        SELECT at AS time, concat(service, ': version ', version) AS text, 'release' AS tags
        FROM sluice.scaling_events FINAL
        WHERE $__timeFilter_ms(at) AND {condition} AND version != ''
        ORDER BY time
        LIMIT 1000
    """
    return _marks("Releases", "purple", sql)


def pauses(condition: str) -> dashboard.AnnotationQuery:
    sql = f"""
        SELECT
            at AS time,
            concat({_POOL}, if(paused, 'paused by ', 'resumed by '), by, ': ', why) AS text,
            'pause' AS tags
        FROM sluice.pool_pauses FINAL
        WHERE $__timeFilter_ms(at) AND {condition}
        ORDER BY time
        LIMIT 1000
    """
    return _marks("Pauses", "yellow", sql)


def _marks(name: str, color: str, sql: str) -> dashboard.AnnotationQuery:
    return (
        dashboard.AnnotationQuery().name(name).datasource(DATASOURCE).enable(True).icon_color(color).target(table(sql))
    )
