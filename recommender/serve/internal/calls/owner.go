package calls

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"

	poolsv1 "sluice.dev/api/pools/v1"
)

// ownerOf is the reporter that owns the target by the newest decision, if it differs from the actuation's reporter. Every
// server reads the same decisions, so all refuse the same actuators. Empty: the server accepts the actuation.
func ownerOf(decision *poolsv1.PoolSize, a *poolsv1.Actuation) string {
	if a.GetReporter() == "" {
		return ""
	}
	for _, size := range decision.GetSizes() {
		if size.GetInstance() == instanceOf(a) && size.GetReporter() != a.GetReporter() {
			return size.GetReporter()
		}
	}
	return ""
}

// ownershipError is the error for a second reporter of a target.
func ownershipError(owner string, pool keys.Pool, a *poolsv1.Actuation) error {
	text := fmt.Sprintf("%s %s: %q owns this target, so %q is refused; one actuator owns a target: take it out of one of the two "+
		"configurations, or, where the owner is gone, wait a minute", pool, instanceOf(a), owner, a.GetReporter())
	return problem.New(codes.FailedPrecondition, problem.TargetOwned, text,
		"pool", pool.String(), "instance", instanceOf(a), "owner", owner, "refused", a.GetReporter())
}

// refusalRow is a refused actuation in the audit. Its outcome and sizes stay as the second reporter sent them.
func refusalRow(a *poolsv1.Actuation, refusal error) *poolsv1.Actuation {
	row := proto.CloneOf(a)
	if a.GetOutcome() == poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED {
		row.Outcome = poolsv1.ActuationOutcome_ACTUATION_OUTCOME_REFUSED
	}
	row.Detail = problem.TargetOwned + ": " + status.Convert(refusal).Message()
	if a.GetDetail() != "" {
		row.Detail += "; " + a.GetDetail()
	}
	return row
}

// instanceOf is the instance of an actuation's target; without one, the target's name.
func instanceOf(a *poolsv1.Actuation) string {
	if a.GetInstance() != "" {
		return a.GetInstance()
	}
	return a.GetTargetName()
}
