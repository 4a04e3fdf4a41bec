package pools_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
)

func TestRecommendOnlyNeverWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, false)
		b.want(t, "OBSERVED 64")
		b.recommend(12, 1, time.Hour)
		advance(5 * time.Second) // it is read at once, and after 2 s and 4 s
		if n := len(b.recorded()); n != 4 {
			t.Errorf("%d readings, want 4", n)
		}
		b.want(t, "")
		if got := b.fake.Written(); got != nil {
			t.Errorf("wrote %v without an opt-in", got)
		}
	})
}

func TestRecommenderLostKeepsTheLastGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.recommend(12, 1, 30*time.Second)
		synctest.Wait()
		b.reportsSent()
		advance(time.Hour) // the lease is over, nobody renews it
		if got := b.fake.Size(); got != 12 {
			t.Errorf("size %d, want 12 as applied last", got)
		}
		if reportsSent := b.reportsSent(); strings.Contains(reportsSent, "REFUSED") {
			t.Errorf("what is in place is not refused: %.100s", reportsSent)
		}
		b.fake.SetSize(20) // moved by hand: without a lease it stays so, and this is said once
		advance(6 * time.Second)
		b.want(t, "REFUSED 20>12=20, OBSERVED 20")
		if got := fmt.Sprint(b.fake.Written()); got != "[12]" {
			t.Errorf("wrote %s, want [12]", got)
		}
	})
}

func TestRefusesOnceForEachGround(t *testing.T) {
	applying(t, 100, func(t *testing.T, b *bench) {
		b.recommend(200, 1, time.Hour)
		advance(3 * time.Second)
		b.want(t, "REFUSED 64>200=64, OBSERVED 64")
		b.recommend(300, 2, time.Hour)
		synctest.Wait()
		b.want(t, "REFUSED 64>300=64")
		b.recommend(0, 3, time.Hour)
		synctest.Wait()
		b.want(t, "REFUSED 64>0=64")
		if got := b.fake.Written(); got != nil {
			t.Errorf("wrote %v", got)
		}
	})
}

func TestLogsChangesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.recommend(12, 1, 24*time.Hour)
		advance(10 * time.Hour)
		// no answer, size applied, in place.
		if lines := strings.Count(b.logs.String(), "\n"); lines != 3 {
			t.Errorf("%d lines in ten hours, want 3:\n%s", lines, &b.logs)
		}
	})
}

// An unchanged size is reported each 15 s, another one with the reading that finds it.
func TestASizeIsReportedWhenItChangesAndElseEach15Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.want(t, "OBSERVED 64")
		advance(59 * time.Second) // read each 2 s: due at 15 s, told at 16 s
		b.want(t, "OBSERVED 64, OBSERVED 64, OBSERVED 64")
		b.fake.SetSize(40)
		advance(2 * time.Second)
		b.want(t, "OBSERVED 40")
		b.recommend(12, 1, time.Hour)
		synctest.Wait()
		b.want(t, "APPLIED 40>12=12")
		advance(14 * time.Second)
		b.want(t, "") // it stands for the write, not for a size that somebody set
		advance(2 * time.Second)
		b.want(t, "OBSERVED 12")
	})
}

// A recommender that does not know the pool yet gets a report with each reading, until it takes one.
func TestASizeThatWasNotTakenIsReportedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, false)
		b.reportsSent()
		b.refuse(status.Error(codes.NotFound, "no such pool"))
		advance(21 * time.Second) // at 16 s it is due; from then on with each
		b.want(t, "OBSERVED 64, OBSERVED 64, OBSERVED 64")
		b.refuse(nil)
		advance(14 * time.Second)
		b.want(t, "OBSERVED 64")
	})
}

// The SLO that a target declares goes with each report; without one there is none, and not 0.
func TestASLOGoesWithEachReport(t *testing.T) {
	for _, slo := range []time.Duration{0, 200 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			b := startOn(t, pools.Target{SLO: slo, Rules: policy.Rules{Apply: true}}, func(*pools.Loop) {})
			b.recommend(40, 1, time.Hour)
			synctest.Wait()
			reports := b.drain()
			if len(reports) != 2 {
				t.Errorf("%d reports, want an observation and a write", len(reports))
			}
			for _, report := range reports {
				if got := report.GetSlo(); (got != nil) != (slo > 0) || got.AsDuration() != slo {
					t.Errorf("%s: slo %v, want %s", report.GetOutcome(), got, slo)
				}
			}
		})
	}
}
