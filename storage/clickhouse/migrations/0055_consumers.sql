-- CONSUMER spans are a side of their own: threads that work on messages are no threads that serve requests. Rows from before have
-- both under 'server'. Values of an Enum may be added to a column of the key.
ALTER TABLE windows MODIFY COLUMN side Enum8('server' = 1, 'client' = 2, 'consumer' = 3);

ALTER TABLE windows_1s MODIFY COLUMN side Enum8('server' = 1, 'client' = 2, 'consumer' = 3);

ALTER TABLE windows_10s MODIFY COLUMN side Enum8('server' = 1, 'client' = 2, 'consumer' = 3);

ALTER TABLE windows_1m MODIFY COLUMN side Enum8('server' = 1, 'client' = 2, 'consumer' = 3);

ALTER TABLE data_sizes MODIFY COLUMN side Enum8('server' = 1, 'client' = 2, 'consumer' = 3);

ALTER TABLE recommendations MODIFY COLUMN side Enum8('server' = 1, 'client' = 2, 'consumer' = 3);

ALTER TABLE actuations MODIFY COLUMN side Enum8('server' = 1, 'client' = 2, 'consumer' = 3);

ALTER TABLE pool_pauses MODIFY COLUMN side Enum8('server' = 1, 'client' = 2, 'consumer' = 3);
