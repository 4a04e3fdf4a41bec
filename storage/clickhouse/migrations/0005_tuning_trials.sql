-- Trials of tuning sessions, from the recommender: upserts, a row for each record of a trial, of which the newest stays. A name of a
-- session is free again once the decider has dropped that session, so `asked_at` is in the key.
CREATE TABLE IF NOT EXISTS tuning_trials
(
    session    String,
    number     UInt32                          COMMENT '0: the default' CODEC(ZSTD(1)),
    purpose    LowCardinality(String)          COMMENT 'name of sluice.tuning.v1.Purpose, without its prefix',
    parameters Map(String, String)             COMMENT 'the configuration' CODEC(ZSTD(1)),
    verdict    LowCardinality(String)          COMMENT 'name of sluice.tuning.v1.Verdict, without its prefix; empty: in flight',
    value      Nullable(Float64)               COMMENT 'of the objective; less is better' CODEC(ZSTD(1)),
    lower      Nullable(Float64)               COMMENT 'interval of the value' CODEC(ZSTD(1)),
    upper      Nullable(Float64)               CODEC(ZSTD(1)),
    excess     Nullable(Float64)               COMMENT 'of an UNSAFE trial: largest excess over an SLO, as a share of its limit' CODEC(ZSTD(1)),
    why        String                          COMMENT 'explains the verdict' CODEC(ZSTD(1)),
    confirms   Nullable(UInt32)                COMMENT 'number of the trial that a trial of the confirmation repeats' CODEC(ZSTD(1)),
    place      Nullable(UInt32)                COMMENT 'number of trials with an earlier outcome; NULL: in flight' CODEC(ZSTD(1)),
    asked_at   DateTime64(3, 'UTC')            CODEC(Delta, ZSTD(1)),
    applied_at Nullable(DateTime64(3, 'UTC'))  COMMENT 'since when the configuration is in force; NULL: nobody reported it',
    told_at    Nullable(DateTime64(3, 'UTC'))  COMMENT 'time of the outcome',
    due_at     DateTime64(3, 'UTC')            COMMENT 'without an outcome the trial fails then' CODEC(Delta, ZSTD(1)),
    recorded   DateTime64(3, 'UTC')            COMMENT 'the version of the row' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(recorded)
PARTITION BY toYYYYMM(asked_at)
ORDER BY (session, number, asked_at)
TTL toDateTime(asked_at) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1;
