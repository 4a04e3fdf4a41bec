package reconcile

import (
	"context"
	"time"
)

// Grace calls do with `work`, a context that outlives ctx by at most `lasts`, and returns when do does.
func Grace(ctx context.Context, lasts time.Duration, do func(work context.Context)) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-work.Done():
		case <-time.After(lasts):
			cancel()
		}
	})
	defer stop()
	do(work)
}
