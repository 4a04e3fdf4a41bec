"""Panels of the metrics of decider, server, actuators and xDS, from Prometheus."""

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.measured import highest, limited, measured, rate


def recommender() -> list[Builder[Panel]]:
    age = 'time() - max(sluice_decider_newest_period_timestamp_seconds{job=~"$job"})'
    return [
        limited(
            measured(
                "Decider: periods",
                "Duration of the newest period of each decider, and the age of the newest committed one.",
                "s",
                (highest("sluice_decider_period_seconds", "instance"), "{{instance}} duration"),
                (age, "age of the newest"),
            ),
            (60, "red"),
        ),
        measured(
            "Decider: shards and pools",
            "Shards and pools of each decider; pools without a decision, contradicted, held at the operator's size, or "
            "not yet back at the size before; subsets without an endpoint.",
            "short",
            (highest("sluice_decider_shards", "instance"), "{{instance}} shards"),
            (highest("sluice_decider_pools", "instance"), "{{instance}} pools"),
            (highest("sluice_decider_not_renewed", "instance"), "{{instance}} not renewed"),
            (highest("sluice_decider_pools_contradicted", "reason"), "contradicted: {{reason}}"),
            (highest("sluice_decider_pools_given_up", "instance"), "{{instance}} given up"),
            (highest("sluice_decider_pools_not_reverted", "instance"), "{{instance}} not reverted"),
            (highest("sluice_decider_subsets_empty", "instance"), "{{instance}} subsets without endpoint"),
        ),
        measured(
            "Decider: overruns, failures, changes taken back",
            "Per second: periods longer than configured, failures by activity, and changes taken back by reason.",
            "cps",
            (rate("sluice_decider_overruns_total", "instance"), "{{instance}} overruns"),
            (rate("sluice_decider_failures_total", "source"), "failures: {{source}}"),
            (rate("sluice_decider_taken_back_total", "reason"), "taken back: {{reason}}"),
        ),
        measured(
            "Decider: losses of the jobs",
            "Losses of the newest ten minutes by kind, as the decider reads them from ClickHouse.",
            "short",
            (highest("sluice_decider_recent_losses", "kind"), "{{kind}}"),
        ),
        _age(
            "Decider: newest window",
            "Time since the newest window began.",
            "sluice_decider_newest_window_age_seconds",
            limit_s=10,
        ),
        _age(
            "Decider: overdue trial of tuning",
            "Time since the oldest trial without an outcome was due.",
            "sluice_decider_tuning_trial_overdue_seconds",
            limit_s=60,
        ),
        measured(
            "Server: leases",
            "Time left of each shard's lease. From 0 on, no actuator writes the shard's pools.",
            "s",
            ('min by (shard) (sluice_server_lease_left_seconds{job=~"$job"})', "shard {{shard}}"),
        ),
        _age(
            "Server: newest decision",
            "Age of the newest decision.",
            "sluice_server_newest_decision_age_seconds",
            limit_s=60,
        ),
        measured(
            "Server: calls",
            "Ended calls per second, by method and code.",
            "reqps",
            (rate("sluice_server_calls_total", "method, code"), "{{method}} {{code}}"),
        ),
        _age(
            "Records: lag of the audit",
            "Age of the oldest record of the journal that ClickHouse lacks.",
            "sluice_records_oldest_waiting_seconds",
            limit_s=600,
        ),
    ]


def _age(title: str, text: str, name: str, limit_s: float) -> Builder[Panel]:
    return limited(measured(title, text, "s", (highest(name, "instance"), "{{instance}}")), (limit_s, "red"))


def actuator() -> list[Builder[Panel]]:
    return [
        measured(
            "Actuators: passes by outcome",
            "Passes over a target per second, and failed readings.",
            "cps",
            (rate("sluice_actuator_actions_total", "outcome"), "{{outcome}}"),
            (rate("sluice_actuator_read_errors_total", "target"), "read errors: {{target}}"),
        ),
        measured(
            "Actuators: NACKs",
            "Recommendations in 10 min that did not come into force: FAILED and REFUSED together.",
            "short",
            ('sum by (target) (increase(sluice_actuator_nacks_total{job=~"$job"}[10m]))', "{{target}}"),
        ),
        measured(
            "Actuators: holds",
            "Passes per second without a write because the lease was over, sizes written back, and actuators that do "
            "not reach the recommender.",
            "short",
            (rate("sluice_actuator_expired_total", "target"), "{{target}} lease over"),
            (rate("sluice_actuator_rolled_back_total", "target"), "{{target}} written back"),
            ('count(sluice_actuator_recommender_reachable{job=~"$job"} == 0)', "without recommender"),
        ),
        measured(
            "xDS: responses of clients",
            "ACKs (APPLIED) and NACKs (REFUSED) per second, by type of resource.",
            "cps",
            (rate("sluice_xds_answers_total", "type, outcome"), "{{type}} {{outcome}}"),
        ),
    ]
