package pools_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRepairsDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.recommend(12, 1, time.Hour)
		advance(time.Minute)
		b.reportsSent()
		b.fake.SetSize(64) // the application was restarted
		advance(2 * time.Second)
		b.want(t, "APPLIED 64>12=12")
	})
}

func TestASizeSetByHandIsPutRightInOneWriteAndAFightGetsRarer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true, 2)
		b.fake.SetSize(16)
		b.recommend(12, 1, time.Hour)
		synctest.Wait()
		b.reportsSent()
		b.fake.SetSize(200) // within the cool-down of 10 s
		advance(2 * time.Second)
		b.want(t, "APPLIED 200>12=12")
		began := time.Now()
		for time.Since(began) < 2*time.Minute { // something else wants 200, and says so every second
			b.fake.SetSize(200)
			advance(time.Second)
		}
		// Again 20 s, 40 s and 80 s after the write before, never each interval.
		if got := fmt.Sprint(b.fake.Written()); got != "[12 12 12 12]" {
			t.Errorf("wrote %s, want [12 12 12 12]", got)
		}
	})
}

func TestASizeThatSettledLateIsOneToGoBackTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true, 2)
		b.fake.SetSize(16)
		b.fake.OnWrite(settleAfter(b.fake, 6*time.Second))
		b.recommend(12, 1, time.Hour)
		advance(8 * time.Second)
		if reportsSent := b.reportsSent(); !strings.Contains(reportsSent, "FAILED 16>12=16, OBSERVED 12") {
			t.Errorf("reports %q, want a size in force only after its time", reportsSent)
		}
		b.fake.OnWrite(nil)
		b.fake.SetSize(100)
		advance(2 * time.Second)
		b.want(t, "APPLIED 100>12=12")
	})
}
