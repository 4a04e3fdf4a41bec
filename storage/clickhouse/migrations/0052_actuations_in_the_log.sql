-- Where in the log a report is, so that it can be read there as it came: topic sluice_reports. NULL in rows of before.
ALTER TABLE actuations
    ADD COLUMN IF NOT EXISTS log_partition Nullable(Int32) COMMENT 'of the topic of reports',
    ADD COLUMN IF NOT EXISTS log_offset    Nullable(Int64) COMMENT 'in that partition';
