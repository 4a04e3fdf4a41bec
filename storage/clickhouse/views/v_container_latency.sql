-- v_container_latency_between over all that is kept. For a time range that one is cheaper: it reads no more than that.
CREATE OR REPLACE VIEW v_container_latency AS
SELECT * FROM v_container_latency_between(from_ms = 0, until_ms = 4102444800000)
