// Package reconcile has the steps that every product of the actuator takes: read, decide, store the intent, write, read back,
// report, back off. It imports no product.
package reconcile

import (
	"context"
	"time"
)

// Product is one target of a product. P is the record of one pass, which the steps fill in, one after another.
//
// work is a context that outlives the end of the process by the grace: a write under way finishes.
type Product[P any] interface {
	// Resume ends a write that an earlier process left. Error: it cannot be ended now.
	Resume(work context.Context, pass P) error
	// Read reads the value in force.
	Read(ctx context.Context, pass P) error
	// Decide decides what to do about the recommender's answer, and returns whether that is a write.
	Decide(work context.Context, pass P) (write bool)
	// Intend stores the write, so that the next process can resolve it. Where it cannot be stored, Intend turns the decision
	// into a refusal and returns false.
	Intend(pass P) (stored bool)
	// Write writes the value, reads it back, and stores how the write ended.
	Write(work context.Context, pass P)
	// Report queues a report to the recommender where one is due.
	Report(pass P)
	// Record passes the pass on to the status page and the log. err: Resume or Read failed, and no later step ran.
	Record(ctx context.Context, pass P, err error)
}

// Pass is one cycle over one target. A write whose intent cannot be stored is not made.
func Pass[P any](ctx, work context.Context, product Product[P], pass P) {
	err := product.Resume(work, pass)
	if err == nil {
		err = product.Read(ctx, pass)
	}
	if err == nil {
		if product.Decide(work, pass) && product.Intend(pass) {
			product.Write(work, pass)
		}
		product.Report(pass)
	}
	product.Record(ctx, pass, err)
}

// Every calls pass until ctx ends: every interval, and at once when the channel that pass returned is closed or has a value.
// The channel may be nil.
func Every(ctx context.Context, interval time.Duration, pass func() (superseded <-chan struct{})) {
	for ctx.Err() == nil {
		superseded := pass()
		select {
		case <-ctx.Done():
		case <-superseded:
		case <-time.After(interval):
		}
	}
}
