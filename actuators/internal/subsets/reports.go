package subsets

import (
	"crypto/rand"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/reconcile"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// maxDetail is the longest detail that the recommender takes, in bytes.
const maxDetail = 4096

// Report is a message to the recommender about a subset.
type Report = reconcile.Report[*subsetsv1.ReportDeliveryRequest]

// Reporter sends reports to the recommender.
type Reporter = reconcile.Reporter[*subsetsv1.ReportDeliveryRequest]

// entry has the fields by which two reports, or two log entries, of a subset differ.
type entry struct {
	outcome  reconcile.Outcome
	revision uint64
	detail   string
}

// report queues a report that differs from the last one.
func (w *worker) report(p *pass, outcome reconcile.Outcome, detail string) (news bool) {
	wire := protoOutcome(outcome)
	if !w.reports.New(entry{reconcile.Outcome(wire.String()), p.answer.GetRevision(), detail}) {
		return false
	}
	w.Reporter.Report(Report{Target: w.Name, Outcome: outcome, Message: &subsetsv1.ReportDeliveryRequest{
		RequestId: rand.Text(),
		Delivery: &subsetsv1.Delivery{
			Client: w.Actuator, At: timestamppb.Now(), Key: w.Key, Outcome: wire, Revision: p.answer.GetRevision(),
			Detail: strings.ToValidUTF8(detail[:min(len(detail), maxDetail)], ""),
		},
	}})
	return true
}
