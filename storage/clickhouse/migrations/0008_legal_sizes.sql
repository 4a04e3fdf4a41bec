-- The legal sizes that each decision had.
ALTER TABLE recommendations
    ADD COLUMN IF NOT EXISTS least Nullable(UInt32) COMMENT 'the smallest legal size' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS most  Nullable(UInt32) COMMENT 'the largest, by its bounds and its backend''s capacity' CODEC(ZSTD(1));
