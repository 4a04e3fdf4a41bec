-- v_container_latency_between over the whole retention. For a time range use that one: it reads only the range.
CREATE OR REPLACE VIEW v_container_latency AS
SELECT * FROM v_container_latency_between(from_ms = 0, until_ms = 4102444800000)
