-- An outcome that is judged anew takes spans from one row and gives them to another. A part of the sums may take before
-- what it takes from has come: spans are then below 0 for a moment, until the next version. An unsigned column would make
-- the sink give that row up as faulty, and the sum over outcomes would not be the number of spans on the topic.
ALTER TABLE ingest_counts MODIFY COLUMN messages Int64 COMMENT 'messages that could not be decoded' CODEC(T64, ZSTD(1));
ALTER TABLE ingest_counts MODIFY COLUMN spans Int64 COMMENT 'below 0 for a moment where an outcome is judged anew' CODEC(T64, ZSTD(1));
