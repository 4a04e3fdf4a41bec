package pool

import (
	"strings"

	"sluice.dev/actuators/internal/reconcile"
	poolsv1 "sluice.dev/api/pools/v1"
)

const outcomePrefix = "ACTUATION_OUTCOME_"

// ProtoOutcome is the outcome as the API has it, where REVERTED is a FAILED with the size that was read.
func ProtoOutcome(outcome reconcile.Outcome) poolsv1.ActuationOutcome {
	if outcome == reconcile.Reverted {
		outcome = reconcile.Failed
	}
	return poolsv1.ActuationOutcome(poolsv1.ActuationOutcome_value[outcomePrefix+string(outcome)])
}

// OutcomeOf is the inverse of ProtoOutcome; empty for an outcome that is not set.
func OutcomeOf(outcome poolsv1.ActuationOutcome) reconcile.Outcome {
	if outcome == poolsv1.ActuationOutcome_ACTUATION_OUTCOME_UNSPECIFIED {
		return ""
	}
	return reconcile.Outcome(strings.TrimPrefix(outcome.String(), outcomePrefix))
}

// Outcomes returns those that a report may have.
func Outcomes() []reconcile.Outcome {
	return []reconcile.Outcome{reconcile.Observed, reconcile.Applied, reconcile.Failed, reconcile.Refused}
}
