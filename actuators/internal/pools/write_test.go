package pools_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	poolsv1 "sluice.dev/api/pools/v1"
)

func TestAppliesReadsBackAndReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.want(t, "OBSERVED 64")
		b.recommend(12, 7, time.Hour)
		synctest.Wait() // other answers are acted on at once, not an interval later
		report := b.sent()[0]
		b.want(t, "APPLIED 64>12=12")
		if report.GetRevision() != 7 || report.GetTargetName() != "cart.threads" || report.GetInstance() != "cart-7" || report.GetActuator() != "bench" ||
			pool.FromProto(report.GetPool()) != cart || !report.GetAt().AsTime().Equal(time.Now()) {
			t.Errorf("report %v", report)
		}
		advance(time.Minute)
		if got := fmt.Sprint(b.fake.Written()); got != "[12]" {
			t.Errorf("wrote %s in a minute, want [12]: what is in place is not applied again", got)
		}
	})
}

func TestGoesFarInStepsACoolDownApart(t *testing.T) {
	applying(t, 2, func(t *testing.T, b *bench) {
		b.recommend(12, 1, time.Hour)
		synctest.Wait()
		b.want(t, "APPLIED 64>32=32")
		advance(9 * time.Second)
		b.reportsSent()
		advance(12 * time.Second)
		if got := fmt.Sprint(b.fake.Written()); got != "[32 16 12]" {
			t.Errorf("wrote %s, want [32 16 12]", got)
		}
	})
}

func TestAnUnboundedPoolIsReportedAndGetsTheTarget(t *testing.T) {
	applying(t, 2, func(t *testing.T, b *bench) {
		b.fake.Unbound()
		advance(2 * time.Second)
		if report := b.sent()[0]; !report.GetUnbounded() || report.ReadBack != nil {
			t.Errorf("report %v, want unbounded and no size", report)
		}
		b.want(t, "OBSERVED ?")
		b.recommend(12, 1, time.Hour)
		synctest.Wait()
		if report := b.sent()[0]; report.GetUnbounded() || report.Previous != nil {
			t.Errorf("report %v, want bounded, and no size before", report)
		}
		b.want(t, "APPLIED ?>12=12")
	})
}

func TestWaitsUntilTheSizeSettles(t *testing.T) {
	applying(t, 100, func(t *testing.T, b *bench) {
		b.fake.OnWrite(settleAfter(b.fake, 3*time.Second))
		b.recommend(12, 1, time.Hour)
		advance(2900 * time.Millisecond)
		b.want(t, "")
		advance(400 * time.Millisecond) // settled at 3 s; seen by the read-back at 3 s or 3.25 s
		b.want(t, "APPLIED 64>12=12")
	})
}

func TestRefusedBehindASuccessIsANack(t *testing.T) {
	applying(t, 100, func(t *testing.T, b *bench) {
		b.fake.OnWrite(func(uint32) error { return nil }) // takes every write and changes nothing
		b.recommend(12, 1, time.Hour)
		advance(5 * time.Second)
		if detail := b.sent()[0].GetDetail(); detail != "read back 64 after 5s, want 12" {
			t.Errorf("detail %q", detail)
		}
		b.want(t, "FAILED 64>12=64")
		// Again after 10 s, then 20 s, then 40 s of cool-down, never each interval.
		advance(2 * time.Minute)
		if got := fmt.Sprint(b.fake.Written()); got != "[12 12 12 12]" {
			t.Errorf("wrote %s in two minutes, want [12 12 12 12]", got)
		}
	})
}

func TestWriteErrorIsANackWithTheSizeInForce(t *testing.T) {
	applying(t, 100, func(t *testing.T, b *bench) {
		b.fake.OnWrite(func(uint32) error { return errors.New("write size 12: status 400: want 20..256") })
		b.recommend(12, 1, time.Hour)
		synctest.Wait()
		if detail := b.sent()[0].GetDetail(); detail != "write size 12: status 400: want 20..256" {
			t.Errorf("detail %q, want what the target said", detail)
		}
		b.want(t, "FAILED 64>12=64")
	})
}

func TestReadBackErrorIsANackWithoutASize(t *testing.T) {
	applying(t, 100, func(t *testing.T, b *bench) {
		b.fake.OnWrite(func(uint32) error { b.fake.Break(errors.New("out of order")); return nil })
		b.recommend(12, 1, time.Hour)
		advance(5 * time.Second)
		b.want(t, "FAILED 64>12=?")
		advance(time.Minute)
		b.want(t, "") // a target that cannot be read is not reported: missing is not 0
		b.fake.OnWrite(nil)
		b.fake.Break(nil)
		advance(2 * time.Second)
		b.want(t, "APPLIED 64>12=12")
		if n := strings.Count(b.logs.String(), "cannot read the target"); n != 1 {
			t.Errorf("said %d times that the target cannot be read, want once:\n%s", n, &b.logs)
		}
	})
}

func TestAReplicaIsBroughtToTheSizeOfTheOthersInOneWrite(t *testing.T) {
	applying(t, 2, func(t *testing.T, b *bench) {
		this, others := uint32(64), uint32(12)
		b.recommend(12, 1, time.Hour,
			&poolsv1.TargetSize{Instance: "cart-6", Size: &others}, &poolsv1.TargetSize{Instance: "cart-7", Size: &this})
		synctest.Wait()
		b.want(t, "APPLIED 64>12=12")
	})
}

func TestItsOwnReportIsNotTheSizeOfAnother(t *testing.T) {
	applying(t, 2, func(t *testing.T, b *bench) {
		before := uint32(12)
		b.recommend(12, 1, time.Hour, &poolsv1.TargetSize{Instance: "cart-7", Size: &before})
		synctest.Wait()
		b.want(t, "APPLIED 64>32=32")
	})
}

// Down by steps, each after a cool-down, and back at once, to the operator's size.
func TestHarmIsTakenBackAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true, 2)
		for i, size := range []uint32{32, 16, 8} {
			b.recommend(size, uint64(i+1), time.Hour)
			advance(11 * time.Second)
		}
		b.reportsSent()
		b.revert(64, 9, time.Hour)
		synctest.Wait()
		b.want(t, "APPLIED 8>64=64")
	})
}

// A write that is still settling, as with threads that do not end, does not delay the one that takes it back.
func TestHarmIsTakenBackWhileAWriteSettles(t *testing.T) {
	applying(t, 100, func(t *testing.T, b *bench) {
		b.fake.OnWrite(func(size uint32) error {
			b.fake.SetSize(max(size, 24)) // 24 are held
			return nil
		})
		b.recommend(16, 1, time.Hour)
		advance(time.Second)
		b.recommend(12, 2, time.Hour) // another one waits for its turn
		advance(time.Second)
		b.want(t, "")
		b.revert(64, 3, time.Hour)
		advance(300 * time.Millisecond)
		b.want(t, "FAILED 64>16=24")
		advance(10 * time.Second)
		if got := b.fake.Size(); got != 64 {
			t.Errorf("size %d after 10 s, want 64 again", got)
		}
	})
}
