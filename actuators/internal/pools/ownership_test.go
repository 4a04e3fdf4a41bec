package pools_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	poolsv1 "sluice.dev/api/pools/v1"
)

const (
	me    = "b@two 127.0.0.1:50061"
	other = "a@one 127.0.0.1:50061"
)

func identified(l *pools.Loop) { l.Identity = me }

// reportedBy is the target of these tests, of a size that a reporter read.
func reportedBy(reporter string) *poolsv1.TargetSize {
	size := uint32(64)
	return &poolsv1.TargetSize{Instance: "cart-7", Size: &size, Reporter: reporter}
}

// held fails unless the newest pass left the target to its owner.
func (b *bench) held(t *testing.T, text string) {
	t.Helper()
	if d := b.decision(); d.Action != policy.Hold || d.Code != policy.Foreign || d.Text != text {
		t.Errorf("decision %+v, want FOREIGN, %q", d, text)
	}
}

func TestATargetThatAnotherReporterOwnsIsNotWrittenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startWith(t, true, identified)
		b.recommend(12, 1, time.Hour, reportedBy(other))
		advance(time.Minute)
		b.held(t, other+" owns the target")
		if got := b.fake.Written(); got != nil {
			t.Errorf("wrote %v", got)
		}
		if got := b.sent()[0].GetReporter(); got != me {
			t.Errorf("reporter %q", got)
		}
		b.recommend(12, 2, time.Hour) // the owner has reported nothing for a minute
		synctest.Wait()
		if got := b.fake.Size(); got != 12 {
			t.Errorf("size %d, want 12", got)
		}
	})
}

func TestItsOwnTargetAndThatOfNobodyAreWritten(t *testing.T) {
	for _, reporter := range []string{me, ""} {
		synctest.Test(t, func(t *testing.T) {
			b := startWith(t, true, identified)
			elsewhere := reportedBy(other)
			elsewhere.Instance = "cart-8"
			b.recommend(12, 1, time.Hour, reportedBy(reporter), elsewhere)
			synctest.Wait()
			if got := b.fake.Size(); got != 12 {
				t.Errorf("size %d of %q, want 12", got, reporter)
			}
		})
	}
}

func TestOneThatOnlyRecommendsIsNoReporter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startWith(t, false, identified)
		b.recommend(12, 1, time.Hour, reportedBy(other))
		advance(time.Minute)
		if d := b.decision(); d.Action != policy.Observe {
			t.Errorf("decision %+v, want OBSERVE", d)
		}
		for _, report := range b.sent() {
			if got := report.GetReporter(); got != "" {
				t.Errorf("reporter %q", got)
			}
		}
	})
}

func TestATargetWhoseReportIsRefusedIsNotWrittenUntilOneIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startWith(t, true, identified)
		b.reportsSent()
		b.refuse(status.Error(codes.FailedPrecondition, "a owns this target"))
		advance(16 * time.Second)
		b.want(t, "OBSERVED 64")
		b.recommend(12, 1, time.Hour)
		advance(14 * time.Second)
		b.held(t, "a owns this target")
		b.want(t, "") // not with each reading: the next report is due after 15 s
		b.refuse(nil)
		advance(4 * time.Second)
		if got := b.fake.Size(); got != 12 {
			t.Errorf("size %d once a report was taken, want 12", got)
		}
	})
}

func TestWhatWasWrittenBeforeTheRefusalIsReportedAndNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startWith(t, true, identified)
		b.reportsSent()
		b.refuse(status.Error(codes.FailedPrecondition, "a owns this target"))
		b.recommend(12, 1, time.Hour)
		synctest.Wait()
		b.want(t, "APPLIED 64>12=12")
		b.fake.SetSize(64)
		advance(time.Minute)
		b.held(t, "a owns this target")
		if got := b.fake.Written(); len(got) != 1 {
			t.Errorf("wrote %v", got)
		}
	})
}

// leased is a Ledger that grants every target.
type leased struct{}

func (leased) Claim(context.Context, pools.Target) error { return nil }

func TestWhereALeaseDecidesNoReporterIsCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startWith(t, true, func(l *pools.Loop) { identified(l); l.Owner = leased{} })
		b.recommend(12, 1, time.Hour, reportedBy(other))
		advance(time.Minute)
		b.held(t, other+" owns the target") // it is in no pod, so no Lease is of it
		if got := b.sent()[0].GetReporter(); got != me {
			t.Errorf("reporter %q", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := startIn(t, "cart-7-pod", func(l *pools.Loop) { identified(l); l.Owner = leased{} })
		b.recommend(12, 1, time.Hour, reportedBy(other))
		synctest.Wait()
		if got := b.fake.Size(); got != 12 {
			t.Errorf("size %d, want 12", got)
		}
		if got := b.sent()[0].GetReporter(); got != "" {
			t.Errorf("reporter %q", got)
		}
	})
}
