package handlers

import (
	"testing"
	"time"
)

func TestHowManyWait(t *testing.T) {
	var w waits
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		after time.Duration
		began int64
		ended time.Duration
		full  bool
		want  int
		why   string
	}{
		{0, 100, 50 * time.Second, true, -1, "nobody asked before"},
		{500 * time.Millisecond, 120, 60 * time.Second, true, -1, "the same within a second"},
		{2 * time.Second, 110, 56 * time.Second, true, 3, "6 s of waits in 2 s"},
		{4 * time.Second, 110, 56*time.Second + time.Millisecond, true, 1, "one waited for a moment"},
		{6 * time.Second, 114, 56*time.Second + time.Millisecond, true, 5, "none ended, and 4 more began"},
		{8 * time.Second, 114, 56*time.Second + time.Millisecond, true, 5, "none ended, and none came"},
		{10 * time.Second, 114, 56*time.Second + time.Millisecond, false, 0, "a connection is free"},
		{80 * time.Second, 900, 90 * time.Second, true, -1, "nobody asked for a minute"},
	} {
		if got := w.since(start.Add(step.after), step.began, step.ended, step.full); got != step.want {
			t.Errorf("after %s: %d, want %d: %s", step.after, got, step.want, step.why)
		}
	}
}
