-- Pearson's correlation of x and y from exact sums: pearson(n, Sx, Sxx, Sy, Syy, Sxy). NULL for fewer than two pairs, and
-- if x or y never differs. (1, 10), (2, 30), (3, 20): pearson(3, 6, 14, 60, 1400, 130) = 0.5.
-- The sums have large differences: 256-bit integers keep them exact until nothing can cancel.
CREATE OR REPLACE FUNCTION pearson AS (n, sx, sxx, sy, syy, sxy) ->
    toFloat64(toInt256(n) * toInt256(sxy) - toInt256(sx) * toInt256(sy))
    / nullIf(
        sqrt(toFloat64(toInt256(n) * toInt256(sxx) - toInt256(sx) * toInt256(sx)))
        * sqrt(toFloat64(toInt256(n) * toInt256(syy) - toInt256(sy) * toInt256(sy))),
        0)
