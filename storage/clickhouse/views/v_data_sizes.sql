-- Mean rows and bytes of a span, per window of its end; NULL if no span has the figure. One row for each (side, service, peer,
-- instance, window) with a figure.
CREATE OR REPLACE VIEW v_data_sizes AS
SELECT
    * EXCEPT (version, written),
    row_sum / nullIf(row_spans, 0)   AS rows_per_span,
    byte_sum / nullIf(byte_spans, 0) AS bytes_per_span,
    version,
    written
FROM data_sizes FINAL
