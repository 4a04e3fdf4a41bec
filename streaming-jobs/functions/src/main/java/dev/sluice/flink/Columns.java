package dev.sluice.flink;

/**
 * Columns of rows that are summed to rows of a table, from storage/clickhouse: written by {@code
 * make generate}.
 */
final class Columns {
  /** Of windows. */
  static final String PARTIAL =
      """
      side STRING NOT NULL, service STRING NOT NULL, peer STRING NOT NULL,
      instance STRING NOT NULL, bucket TIMESTAMP_LTZ(3) NOT NULL, busy_ns BIGINT NOT NULL,
      completions BIGINT NOT NULL, errors BIGINT NOT NULL, latency BYTES NOT NULL,
      contributions BIGINT NOT NULL""";

  /** Of container_latency. */
  static final String SAMPLE =
      """
      service STRING NOT NULL, instance STRING NOT NULL, host STRING NOT NULL,
      window_start TIMESTAMP_LTZ(3) NOT NULL, requests BIGINT NOT NULL, errors BIGINT NOT NULL,
      ln_sum BIGINT NOT NULL, ln_sum2 BIGINT NOT NULL, latency BYTES NOT NULL""";

  /** Of data_sizes. */
  static final String SIZE =
      """
      side STRING NOT NULL, service STRING NOT NULL, peer STRING NOT NULL,
      instance STRING NOT NULL, window_start TIMESTAMP_LTZ(3) NOT NULL,
      row_spans BIGINT NOT NULL, row_sum BIGINT NOT NULL, byte_spans BIGINT NOT NULL,
      byte_sum BIGINT NOT NULL""";

  /** Of spans_left_out. */
  static final String LEFT =
      """
      side STRING NOT NULL, service STRING NOT NULL, peer STRING NOT NULL,
      operation STRING NOT NULL, action STRING NOT NULL, rule STRING NOT NULL,
      window_start TIMESTAMP_LTZ(3) NOT NULL, spans BIGINT NOT NULL, duration_ns BIGINT NOT NULL""";

  /** Of instance_clocks. */
  static final String DELAY =
      """
      service STRING NOT NULL, instance STRING NOT NULL, window_start TIMESTAMP_LTZ(3) NOT NULL,
      spans BIGINT NOT NULL, least_ms BIGINT NOT NULL, sum_ms BIGINT NOT NULL""";

  /** Of service_sampling. */
  static final String SAMPLING =
      """
      service STRING NOT NULL, window_start TIMESTAMP_LTZ(3) NOT NULL, spans BIGINT NOT NULL,
      stated BIGINT NOT NULL, adjusted BIGINT NOT NULL, tail BIGINT NOT NULL,
      last_bytes BYTES NOT NULL, most_64 BIGINT NOT NULL, most_63 BIGINT NOT NULL,
      most_56 BIGINT NOT NULL, most_32 BIGINT NOT NULL, most_head BIGINT NOT NULL,
      least_64 BIGINT NOT NULL, least_head BIGINT NOT NULL""";

  /** Of ingest_counts. */
  static final String COUNTED =
      """
      outcome STRING NOT NULL, service STRING NOT NULL, received TIMESTAMP_LTZ(3) NOT NULL,
      messages BIGINT NOT NULL, spans BIGINT NOT NULL, emit_lag_ms BIGINT NOT NULL,
      contributions BIGINT NOT NULL""";

  /** Of offset_gaps. */
  static final String GAP =
      """
      first_missing BIGINT NOT NULL, first_read BIGINT NOT NULL,
      received TIMESTAMP_LTZ(3) NOT NULL""";

  /** Of call_edges. */
  static final String EDGE =
      """
      caller STRING NOT NULL, callee STRING NOT NULL, window_start BIGINT NOT NULL,
      calls BIGINT NOT NULL, errors BIGINT NOT NULL, latency BYTES NOT NULL,
      contributions BIGINT NOT NULL""";

  /** Of container_calls. */
  static final String CONTAINER_CALL =
      """
      caller STRING NOT NULL, caller_instance STRING NOT NULL, callee STRING NOT NULL,
      callee_instance STRING NOT NULL, window_start BIGINT NOT NULL, calls BIGINT NOT NULL""";

  /** Of call_trees. */
  static final String TREE =
      """
      service STRING NOT NULL, operation STRING NOT NULL, window_start BIGINT NOT NULL,
      tree STRING NOT NULL, traces BIGINT NOT NULL""";

  /** Of container_own_time. */
  static final String OWN =
      """
      service STRING NOT NULL, instance STRING NOT NULL, host STRING NOT NULL,
      window_start BIGINT NOT NULL, requests BIGINT NOT NULL, errors BIGINT NOT NULL,
      ln_sum BIGINT NOT NULL, ln_sum2 BIGINT NOT NULL, latency BYTES NOT NULL""";

  /** Of critical_paths. */
  static final String PATH_KEY =
      """
      root_service STRING NOT NULL, root_operation STRING NOT NULL, complete BOOLEAN NOT NULL,
      window_start BIGINT NOT NULL""";

  /** Of critical_paths. */
  static final String PATH_SUMS =
      """
      traces BIGINT NOT NULL, sum_ns BIGINT NOT NULL, sum_ns2 DECIMAL(38, 0) NOT NULL,
      latency MAP<SMALLINT, INT>, slowest_ns BIGINT NOT NULL, slowest_trace_id STRING NOT NULL,
      median_trace_id STRING NOT NULL""";

  /** Of path_services. */
  static final String SERVICE_SUMS =
      """
      traces BIGINT NOT NULL, self_sum BIGINT NOT NULL, self_sum2 DECIMAL(38, 0) NOT NULL,
      e2e_sum BIGINT NOT NULL, e2e_sum2 DECIMAL(38, 0) NOT NULL,
      self_x_e2e DECIMAL(38, 0) NOT NULL, upstream_sum BIGINT NOT NULL,
      upstream_sum2 DECIMAL(38, 0) NOT NULL, call_upstream_sum BIGINT NOT NULL,
      wait_sum BIGINT NOT NULL, blame_sum BIGINT NOT NULL, blame_sum2 DECIMAL(38, 0) NOT NULL,
      blame_x_e2e DECIMAL(38, 0) NOT NULL, self_latency MAP<SMALLINT, INT>,
      upstream_latency MAP<SMALLINT, INT>, call_upstream_latency MAP<SMALLINT, INT>,
      blame_latency MAP<SMALLINT, INT>""";

  /** Of trace_counts. */
  static final String TRACE_COUNT =
      """
      cause STRING NOT NULL, service STRING NOT NULL, received TIMESTAMP_LTZ(3) NOT NULL,
      traces BIGINT NOT NULL, spans BIGINT NOT NULL""";

  /** Of resource_metrics. */
  static final String RESOURCE =
      """
      role STRING NOT NULL, host STRING NOT NULL, instance STRING NOT NULL,
      metric_rank INT NOT NULL, series STRING NOT NULL, kind STRING NOT NULL,
      start_ns BIGINT NOT NULL, window_start TIMESTAMP_LTZ(3) NOT NULL, points BIGINT NOT NULL,
      value_sum BIGINT NOT NULL, value_min BIGINT NOT NULL, value_max BIGINT NOT NULL,
      first_ns BIGINT NOT NULL, last_ns BIGINT NOT NULL""";

  /** Of pool_metrics. */
  static final String POOL =
      """
      service STRING NOT NULL, instance STRING NOT NULL, side STRING NOT NULL,
      pool STRING NOT NULL, peer STRING NOT NULL, figure STRING NOT NULL,
      metric_rank INT NOT NULL, series STRING NOT NULL, kind STRING NOT NULL,
      start_ns BIGINT NOT NULL, window_start TIMESTAMP_LTZ(3) NOT NULL, points BIGINT NOT NULL,
      value_sum BIGINT NOT NULL, value_min BIGINT NOT NULL, value_max BIGINT NOT NULL,
      first_ns BIGINT NOT NULL, last_ns BIGINT NOT NULL""";

  private Columns() {}
}
