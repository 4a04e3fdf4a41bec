package pool_test

import (
	"slices"
	"testing"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/reconcile"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Each outcome of the API has one name here, and the other way round.
func TestOutcomesAreThoseOfTheAPI(t *testing.T) {
	for number, name := range poolsv1.ActuationOutcome_name {
		wire := poolsv1.ActuationOutcome(number)
		outcome := pool.OutcomeOf(wire)
		if wire == poolsv1.ActuationOutcome_ACTUATION_OUTCOME_UNSPECIFIED {
			if outcome != "" {
				t.Errorf("%s is %q, want none", name, outcome)
			}
			continue
		}
		if !slices.Contains(pool.Outcomes(), outcome) || pool.ProtoOutcome(outcome) != wire {
			t.Errorf("%s is %q, and that is %s", name, outcome, pool.ProtoOutcome(outcome))
		}
	}
	if got := pool.ProtoOutcome(reconcile.Reverted); got != poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED {
		t.Errorf("REVERTED is %s, want FAILED", got)
	}
}
