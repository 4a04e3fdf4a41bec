-- What is known of a pool is in the log of states (topic sluice_state), not in curves of windows.
DROP TABLE IF EXISTS curves;
