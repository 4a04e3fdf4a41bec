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

// ownerOf is the reporter of the target by the newest answer, where it is another one than the actuation's. Every server reads
// the same answers, so an actuator is refused at whichever it calls. Empty: the actuation is taken.
func ownerOf(answer *poolsv1.PoolSize, a *poolsv1.Actuation) string {
	if a.GetReporter() == "" {
		return ""
	}
	for _, size := range answer.GetSizes() {
		if size.GetInstance() == instanceOf(a) && size.GetReporter() != a.GetReporter() {
			return size.GetReporter()
		}
	}
	return ""
}

// ownedBy is the error that a second reporter of a target gets.
func ownedBy(owner string, pool keys.Pool, a *poolsv1.Actuation) error {
	text := fmt.Sprintf("%s %s: %q owns this target, so %q is refused; one actuator owns a target: take it out of one of the two "+
		"configurations, or, where the owner is gone, wait a minute", pool, instanceOf(a), owner, a.GetReporter())
	return problem.Of(codes.FailedPrecondition, problem.TargetOwned, text,
		"pool", pool.String(), "instance", instanceOf(a), "owner", owner, "refused", a.GetReporter())
}

// audited is a refused actuation as the audit has it. What the second reporter wrote, or failed to write, stays as it was.
func audited(a *poolsv1.Actuation, refusal error) *poolsv1.Actuation {
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

// instanceOf is the instance of an actuation's target, for which its name stands in.
func instanceOf(a *poolsv1.Actuation) string {
	if a.GetInstance() != "" {
		return a.GetInstance()
	}
	return a.GetTargetName()
}
