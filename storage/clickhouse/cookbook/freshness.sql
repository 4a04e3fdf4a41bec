-- How far behind is each stage?
SELECT stage, round(lag_ms) AS lag_ms
FROM v_stage_lag;
