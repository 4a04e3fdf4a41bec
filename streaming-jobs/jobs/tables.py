"""Columns and keys of the sinks, from storage/clickhouse/tables: written by `make generate`."""

COLUMNS = {
    "call_edges": """
            caller STRING NOT NULL, callee STRING NOT NULL, `window` TIMESTAMP_LTZ(3) NOT NULL,
            window_s INT NOT NULL, calls BIGINT NOT NULL, errors BIGINT NOT NULL,
            latency MAP<SMALLINT, INT>, version BIGINT NOT NULL,
            PRIMARY KEY (caller, callee, `window`) NOT ENFORCED""",
    "call_trees": """
            root_service STRING NOT NULL, root_operation STRING NOT NULL,
            `window` TIMESTAMP_LTZ(3) NOT NULL, window_s INT NOT NULL, tree STRING NOT NULL,
            traces BIGINT NOT NULL, version BIGINT NOT NULL,
            PRIMARY KEY (root_service, root_operation, `window`, tree) NOT ENFORCED""",
    "container_latency": """
            service STRING NOT NULL, instance STRING NOT NULL, host STRING NOT NULL,
            `window` TIMESTAMP_LTZ(3) NOT NULL, window_s INT NOT NULL, requests BIGINT NOT NULL,
            errors BIGINT NOT NULL, ln_sum BIGINT NOT NULL, ln_sum2 BIGINT NOT NULL,
            latency MAP<SMALLINT, INT>, version BIGINT NOT NULL,
            PRIMARY KEY (service, instance, host, `window`) NOT ENFORCED""",
    "container_own_time": """
            service STRING NOT NULL, instance STRING NOT NULL, host STRING NOT NULL,
            `window` TIMESTAMP_LTZ(3) NOT NULL, window_s INT NOT NULL, requests BIGINT NOT NULL,
            errors BIGINT NOT NULL, ln_sum BIGINT NOT NULL, ln_sum2 BIGINT NOT NULL,
            latency MAP<SMALLINT, INT>, version BIGINT NOT NULL,
            PRIMARY KEY (service, instance, host, `window`) NOT ENFORCED""",
    "critical_paths": """
            root_service STRING NOT NULL, root_operation STRING NOT NULL,
            complete BOOLEAN NOT NULL, signature STRING NOT NULL, window_s INT NOT NULL,
            `window` TIMESTAMP_LTZ(3) NOT NULL, traces BIGINT NOT NULL, sum_ns BIGINT NOT NULL,
            sum_ns2 DECIMAL(38, 0) NOT NULL, latency MAP<SMALLINT, INT>,
            slowest_ns BIGINT NOT NULL, slowest_trace_id STRING NOT NULL,
            median_trace_id STRING NOT NULL, version BIGINT NOT NULL,
            PRIMARY KEY (root_service, root_operation, complete, signature, `window`) NOT ENFORCED""",
    "ingest_counts": """
            job STRING NOT NULL, outcome STRING NOT NULL, service STRING NOT NULL,
            received TIMESTAMP_LTZ(3) NOT NULL, messages BIGINT NOT NULL, spans BIGINT NOT NULL,
            emit_lag_ms BIGINT NOT NULL, version BIGINT NOT NULL,
            PRIMARY KEY (job, outcome, service, received) NOT ENFORCED""",
    "offset_gaps": """
            flink_job STRING NOT NULL, topic STRING NOT NULL, `partition` INT NOT NULL,
            first_missing BIGINT NOT NULL, first_read BIGINT NOT NULL,
            received TIMESTAMP_LTZ(3) NOT NULL, version BIGINT NOT NULL,
            PRIMARY KEY (flink_job, topic, `partition`, first_missing) NOT ENFORCED""",
    "path_services": """
            root_service STRING NOT NULL, root_operation STRING NOT NULL,
            complete BOOLEAN NOT NULL, service STRING NOT NULL, window_s INT NOT NULL,
            `window` TIMESTAMP_LTZ(3) NOT NULL, traces BIGINT NOT NULL,
            self_sum BIGINT NOT NULL, self_sum2 DECIMAL(38, 0) NOT NULL,
            e2e_sum BIGINT NOT NULL, e2e_sum2 DECIMAL(38, 0) NOT NULL,
            self_x_e2e DECIMAL(38, 0) NOT NULL, upstream_sum BIGINT NOT NULL,
            upstream_sum2 DECIMAL(38, 0) NOT NULL, call_upstream_sum BIGINT NOT NULL,
            wait_sum BIGINT NOT NULL, blame_sum BIGINT NOT NULL,
            blame_sum2 DECIMAL(38, 0) NOT NULL, blame_x_e2e DECIMAL(38, 0) NOT NULL,
            self_latency MAP<SMALLINT, INT>, upstream_latency MAP<SMALLINT, INT>,
            call_upstream_latency MAP<SMALLINT, INT>, blame_latency MAP<SMALLINT, INT>,
            version BIGINT NOT NULL,
            PRIMARY KEY (root_service, root_operation, complete, service, `window`) NOT ENFORCED""",
    "resource_metrics": """
            host STRING NOT NULL, instance STRING NOT NULL, role STRING NOT NULL,
            metric_rank INT NOT NULL, series STRING NOT NULL, kind STRING NOT NULL,
            start_ns BIGINT NOT NULL, `window` TIMESTAMP_LTZ(3) NOT NULL, window_s INT NOT NULL,
            points BIGINT NOT NULL, value_sum BIGINT NOT NULL, value_min BIGINT NOT NULL,
            value_max BIGINT NOT NULL, first_ns BIGINT NOT NULL, last_ns BIGINT NOT NULL,
            version BIGINT NOT NULL,
            PRIMARY KEY (host, instance, role, metric_rank, series, kind, start_ns, `window`) NOT ENFORCED""",
    "trace_counts": """
            cause STRING NOT NULL, service STRING NOT NULL, received TIMESTAMP_LTZ(3) NOT NULL,
            traces BIGINT NOT NULL, spans BIGINT NOT NULL, version BIGINT NOT NULL,
            PRIMARY KEY (cause, service, received) NOT ENFORCED""",
    "windows": """
            side STRING NOT NULL, service STRING NOT NULL, peer STRING NOT NULL,
            instance STRING NOT NULL, bucket TIMESTAMP_LTZ(3) NOT NULL, bucket_ms INT NOT NULL,
            busy_ns BIGINT NOT NULL, completions BIGINT NOT NULL, errors BIGINT NOT NULL,
            latency MAP<SMALLINT, INT>, version BIGINT NOT NULL,
            PRIMARY KEY (side, service, peer, instance, bucket) NOT ENFORCED""",
}
