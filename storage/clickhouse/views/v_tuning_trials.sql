-- Trials of the newest session of each name. `baseline` is the value of the default, trial 0. `best` is the least value of the search's
-- good trials up to this trial's outcome, without those that a repeat refuted (`is_refuted`).
CREATE OR REPLACE VIEW v_tuning_trials AS
SELECT
    * EXCEPT (refuted, recorded),
    has(refuted, number) AS is_refuted,
    min(if(number = 0, value, NULL)) OVER (PARTITION BY session) AS baseline,
    min(if(purpose = 'SEARCH' AND verdict = 'GOOD' AND NOT is_refuted, value, NULL))
        OVER (PARTITION BY session ORDER BY ifNull(place, toUInt32(-1))) AS best
FROM
(
    SELECT
        t.*,
        groupUniqArray(if(purpose = 'WINNER' AND verdict IN ('UNSAFE', 'FAILED'), confirms, NULL))
            OVER (PARTITION BY session) AS refuted
    FROM
    (
        SELECT *, max(if(number = 0, asked_at, NULL)) OVER (PARTITION BY session) AS began
        FROM tuning_trials FINAL
    ) AS t
    WHERE asked_at >= ifNull(began, asked_at)
)
