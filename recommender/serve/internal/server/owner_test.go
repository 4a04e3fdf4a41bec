package server_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/journaltest"

	poolsv1 "sluice.dev/api/pools/v1"
)

// reportBy is a report of cart-1's size; APPLIED where it was written.
func (r *running) reportBy(t *testing.T, reporter string, outcome poolsv1.ActuationOutcome) error {
	t.Helper()
	_, err := r.client.ReportActuation(t.Context(), report(func(a *poolsv1.Actuation) { a.Reporter, a.Outcome = reporter, outcome }))
	return err
}

// The decider takes up the first reporter of a target; from its decisions on every server refuses another one.
func TestASecondReporterOfATargetIsRefusedAtEachServerAndToldInTheLog(t *testing.T) {
	const observed, applied = poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED, poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	owned := journaltest.Apply(cart, 1, 8)
	owned.Sizes[0].Instance, owned.Sizes[0].Reporter = "cart-1", "a@one :1"
	d.Publish(owned)
	servers := []*running{start(t, journal, options{}).ready(t), start(t, journal, options{}).ready(t)}
	for _, r := range servers {
		must(t, r.reportBy(t, "a@one :1", observed))
		must(t, r.reportBy(t, "", observed)) // not compared
		for _, outcome := range []poolsv1.ActuationOutcome{observed, applied} {
			err := r.reportBy(t, "b@two :1", outcome)
			if text := status.Convert(err).Message(); status.Code(err) != codes.FailedPrecondition ||
				!strings.Contains(text, "a@one :1") || !strings.Contains(text, "b@two :1") {
				t.Error(err)
			}
		}
	}
	reporters := func() (all []string) {
		for _, record := range journal.Read(t, journal.Observed) {
			size := &poolsv1.ObservedSize{}
			must(t, proto.Unmarshal(record.Value, size))
			all = append(all, size.GetSize().GetReporter())
		}
		return all
	}
	if got := strings.Join(reporters(), ","); got != "a@one :1,,a@one :1," {
		t.Error("sizes are taken of the owner, and of nobody:", got)
	}
	var outcomes []string
	for _, report := range servers[0].reports(t, journal) {
		if detail := report.GetActuation().GetDetail(); !strings.HasPrefix(detail, "TARGET_OWNED: cart/server cart-1: ") {
			t.Error(detail)
		}
		outcomes = append(outcomes, strings.TrimPrefix(report.GetActuation().GetOutcome().String(), "ACTUATION_OUTCOME_"))
	}
	if got := strings.Join(outcomes, ","); got != "REFUSED,APPLIED,REFUSED,APPLIED" {
		t.Error("the audit has each refusal, and what was written in spite of it:", got)
	}

	// The owner has reported nothing for a minute: the decider's decision no longer has its size.
	unowned := journaltest.Apply(cart, 2, 8)
	unowned.Sizes = nil
	d.Publish(unowned)
	eventually(t, "the second is taken", func() bool { return servers[1].reportBy(t, "b@two :1", observed) == nil })
	if all := reporters(); all[len(all)-1] != "b@two :1" {
		t.Error(all)
	}
}
