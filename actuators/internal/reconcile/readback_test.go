package reconcile

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// readAt returns the times of all readings, in milliseconds, of a target that shows a written value after `takes`.
func readAt(ctx context.Context, within, takes time.Duration) (at []int64) {
	began := time.Now()
	Until(ctx, within, func() bool {
		since := time.Since(began)
		at = append(at, since.Milliseconds())
		return since >= takes
	})
	return at
}

func TestTheFirstReadingsAreCloseTogetherAndTheLastIsAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		name          string
		within, takes time.Duration
		want          []int64
	}{
		{"at once", time.Second, 0, []int64{0}},
		{"10 ms", time.Second, 10 * time.Millisecond, []int64{0, 2, 6, 14}},
		{"a second", 2 * time.Second, time.Second, []int64{0, 2, 6, 14, 30, 62, 126, 254, 504, 754, 1004}},
		{"never", 300 * time.Millisecond, time.Hour, []int64{0, 2, 6, 14, 30, 62, 126, 254, 300}},
		{"one look", 0, time.Hour, []int64{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := readAt(t.Context(), c.within, c.takes); !slices.Equal(got, c.want) {
					t.Errorf("read at %v ms, want %v", got, c.want)
				}
			})
		})
	}
}

func TestItEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		if got := readAt(ctx, time.Hour, time.Hour); !slices.Equal(got, []int64{0, 2}) {
			t.Errorf("read at %v ms, want 0 and 2", got)
		}
		if got := readAt(ctx, time.Hour, time.Hour); !slices.Equal(got, []int64{0}) {
			t.Errorf("read at %v ms of a context that is over, want one look", got)
		}
	})
}
