package reconcile_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sluice.dev/actuators/internal/reconcile"
)

func TestWorkOutlivesTheContextByTheGrace(t *testing.T) {
	for name, took := range map[string]time.Duration{"ends by itself": time.Second, "is ended": time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began := time.Now()
			reconcile.Grace(ctx, 3*time.Second, func(work context.Context) {
				<-ctx.Done()
				select {
				case <-work.Done():
				case <-time.After(took):
				}
			})
			if lasted, want := time.Since(began), 10*time.Second+min(took, 3*time.Second); lasted != want {
				t.Errorf("what %s: returned after %s, want %s", name, lasted, want)
			}
		})
	}
}
