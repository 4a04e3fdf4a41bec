-- Rows keep the number of the insert they came with (`_block_number`) when parts are merged. Numbers are given out as inserts
-- become visible, so whoever has seen all up to N asks for those above N and misses none, however late they are or however
-- long an insert took, which no clock promises. The recommender reads so, once a period.
ALTER TABLE windows MODIFY SETTING enable_block_number_column = 1;
