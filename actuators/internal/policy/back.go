package policy

import (
	"slices"
	"time"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// gaveUp is the code of the reason with which the recommender leaves a pool to the size that its operator gave it.
const gaveUp = "GAVE_UP"

// backWithin is how long such an answer waits at most after the last write: with the reading interval of 2 s and a settle time
// of 5 s a harmful size is gone well within a minute.
const backWithin = 10 * time.Second

// TakesBack tells that an answer undoes a change that did harm. It goes at once to a size that was in force here before, waits
// for backWithin at most, and neither quiet hours nor spent writes keep it: each of them would keep the harm. What an operator
// can say of the target as a whole holds: the kill switch, min and max, and the recommender's own lease.
func TakesBack(answer *poolsv1.PoolSize) bool {
	return answer.GetAction() == commonv1.Action_ACTION_APPLY && (answer.GetBasis() == poolsv1.Basis_BASIS_REVERT ||
		slices.ContainsFunc(answer.GetReasons(), func(r *commonv1.Reason) bool { return r.GetCode() == gaveUp }))
}
