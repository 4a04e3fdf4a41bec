package policy

import (
	"slices"
	"time"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// gaveUp is the code of the reason with which the recommender gives a pool back to its operator's size.
const gaveUp = "GAVE_UP"

// backWithin is the longest wait of such a decision after the last write. With a reading interval of 2 s and a settle time of
// 5 s, a harmful size is gone well within a minute.
const backWithin = 10 * time.Second

// TakesBack is true for a decision that undoes a change that did harm. It goes at once to a size that was in force here
// before. It waits for at most backWithin, and neither quiet hours nor spent writes delay it, because they would prolong the
// harm. The operator's rules for the target as a whole still hold: the kill switch, min and max. So does the recommender's
// lease.
func TakesBack(answer *poolsv1.PoolSize) bool {
	return answer.GetAction() == commonv1.Action_ACTION_APPLY && (answer.GetBasis() == poolsv1.Basis_BASIS_REVERT ||
		slices.ContainsFunc(answer.GetReasons(), func(r *commonv1.Reason) bool { return r.GetCode() == gaveUp }))
}
