package subsets

import (
	"sluice.dev/actuators/internal/reconcile"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Outcomes are those that are counted for a subset.
func Outcomes() []reconcile.Outcome {
	return []reconcile.Outcome{reconcile.Applied, reconcile.Failed, reconcile.Refused}
}

// protoOutcome is the outcome as the API has it, where a write that failed is a REFUSED subset, too.
func protoOutcome(outcome reconcile.Outcome) subsetsv1.DeliveryOutcome {
	if outcome == reconcile.Applied {
		return subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_APPLIED
	}
	return subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_REFUSED
}
