-- The newest curve of each pool on each footing; one without a target was forgotten.
SELECT
    service, toString(side), peer, cpu_limit_cores, version, peer_cpu_limit_cores, peer_version,
    toUnixTimestamp64Milli(at), target, lower_bound, upper_bound, model, threshold_ms, bucket_ms,
    concurrency, goodput_per_s, throughput_per_s, samples
FROM curves FINAL
