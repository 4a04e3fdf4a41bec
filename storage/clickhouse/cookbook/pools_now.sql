-- Which pools are known, what is their size, and what should it be?
SELECT service, side, peer, state, basis, action, current, target, lower_bound, upper_bound, round(confidence, 2) AS confidence, round(age_s, 1) AS age_s
FROM v_pool_now
ORDER BY service, side, peer;
