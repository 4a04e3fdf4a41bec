package pools_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	poolsv1 "sluice.dev/api/pools/v1"
)

func use(busy, waiting int64) pool.Use {
	return pool.Use{Busy: pool.Count(busy), Waiting: pool.Count(waiting)}
}

// uses are the reports since the last call, as "n of readings full: busy (mean, most), waiting (mean, most)".
func (b *bench) uses(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, report := range b.drain() {
		got = append(got, words(report.GetOccupancy()))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

func words(o *poolsv1.Occupancy) string {
	if o == nil {
		return "nothing"
	}
	text := fmt.Sprintf("%d of %d full: %d (%.2f, %d)", o.GetFull(), o.GetReadings(), o.GetBusy(), o.GetBusyMean(), o.GetBusyMost())
	if o.Waiting == nil {
		return text
	}
	return text + fmt.Sprintf(", %d (%.2f, %d)", o.GetWaiting(), o.GetWaitingMean(), o.GetWaitingMost())
}

func TestAnUnknownFigureIsAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, false)
		b.uses(t, "nothing")
		b.fake.SetUse(use(0, -1))
		advance(2 * time.Second)
		b.uses(t, "0 of 1 full: 0 (0.00, 0)") // 0 is told, and nothing of who waits
	})
}

// Read each 2 s: an unchanged use is reported each 15 s, a pool that becomes full at once, and other moves after 5 s.
func TestOccupancyIsReportedWhenItChangesMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, false)
		b.uses(t, "nothing")
		b.fake.SetUse(use(8, 0))
		advance(2 * time.Second)
		b.uses(t, "0 of 1 full: 8 (8.00, 8), 0 (0.00, 0)")
		b.fake.SetUse(use(9, 0))
		advance(14 * time.Second)
		b.uses(t) // 9 instead of 8 is no news
		advance(2 * time.Second)
		b.uses(t, "0 of 8 full: 9 (9.00, 9), 0 (0.00, 0)")
		b.fake.SetUse(use(64, 5))
		advance(2 * time.Second)
		b.uses(t, "1 of 1 full: 64 (64.00, 64), 5 (5.00, 5)")
		b.fake.SetUse(use(20, 0))
		advance(4 * time.Second)
		b.uses(t)
		advance(2 * time.Second)
		b.uses(t, "0 of 3 full: 20 (20.00, 20), 0 (0.00, 0)")
	})
}

// A pool that is full at one reading and not at the next makes no flood: at most 15 reports of 30 readings.
func TestOccupancyThatJittersIsReportedEach5Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, false)
		b.fake.SetUse(use(8, 0))
		advance(2 * time.Second)
		b.reportsSent()
		for i := range 30 {
			b.fake.SetUse(use(8+56*int64(i%2), 0))
			advance(2 * time.Second)
		}
		if n := len(b.sent()); n > 15 {
			t.Errorf("%d reports in a minute, want 15 at most", n)
		}
	})
}

// The use under another size says nothing about this one, and the new use is reported soon.
func TestUseBeginsAnewWithAnotherSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.fake.SetUse(use(12, 3))
		advance(2 * time.Second)
		b.reportsSent()
		advance(4 * time.Second)
		b.recommend(12, 1, time.Hour)
		synctest.Wait()
		b.uses(t, "nothing") // APPLIED: it was not looked at since
		advance(2 * time.Second)
		b.uses(t, "1 of 1 full: 12 (12.00, 12), 3 (3.00, 3)")
	})
}
