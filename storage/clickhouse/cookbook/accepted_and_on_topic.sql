-- Do all spans that collectors accept get to the topic? (last hour; the view v_span_balance_between says what `missing` means)
SELECT *
FROM v_span_balance(seconds = 3600)
ORDER BY minute DESC;
