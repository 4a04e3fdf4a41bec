-- What the services of the application read and write; `change` and its rows are of instrumented/hot.sql.
CREATE TABLE IF NOT EXISTS sessions AS SELECT id, md5(id::text) AS visitor FROM generate_series(1, 2000) AS id;
CREATE UNIQUE INDEX IF NOT EXISTS sessions_id ON sessions (id);
CREATE TABLE IF NOT EXISTS items AS SELECT id, md5(id::text) AS name, id % 97 AS price FROM generate_series(1, 5000) AS id;
CREATE UNIQUE INDEX IF NOT EXISTS items_id ON items (id);
CREATE TABLE IF NOT EXISTS carts AS SELECT id, id % 2000 AS visitor, id % 5000 AS item FROM generate_series(1, 20000) AS id;
CREATE INDEX IF NOT EXISTS carts_visitor ON carts (visitor);
CREATE TABLE IF NOT EXISTS shipments (id bigint GENERATED ALWAYS AS IDENTITY, visitor int, at timestamptz DEFAULT now());
-- How long a change of hot.sql waits.
ALTER DATABASE postgres SET sluice.wait_s = '0.06';
