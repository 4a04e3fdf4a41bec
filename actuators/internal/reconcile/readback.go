package reconcile

import (
	"context"
	"time"
)

// Pauses between readings. Most targets show a value at once, and an actuation lasts until the reading after its last pause:
// 2, 4, 8 .. 128, then 250 ms each. So a change that takes 10 ms is read after 14, and one that takes a second was read 11
// times.
const firstPause, longestPause = 2 * time.Millisecond, 250 * time.Millisecond

// Until reads at once, and again after each pause, until read returns true, `within` is over, or ctx ends. The last reading
// is at the end of `within`, not before it.
func Until(ctx context.Context, within time.Duration, read func() (enough bool)) {
	deadline := time.Now().Add(within)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		enough := read()
		left := time.Until(deadline)
		if enough || left <= 0 || ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(pause, left)):
		}
	}
}

// Write is one write of a value V to a place.
type Write[V any] struct {
	Write func(ctx context.Context) error
	Read  func(ctx context.Context) (V, error)
	// Reached is true for a reading that shows the written value.
	Reached func(V) bool
	// Settle is how long the value may take to come into force.
	Settle time.Duration
	// Superseded ends the wait early; it may be nil.
	Superseded func() bool
}

// Written is the result of a write. Value is the last reading where Read is nil.
type Written[V any] struct {
	Value       V
	Write, Read error
}

// Put writes and reads back. After a write that failed it reads once: the place may have taken it.
func (w Write[V]) Put(ctx context.Context) (result Written[V]) {
	if result.Write = w.Write(ctx); result.Write != nil {
		w.Settle = 0
	}
	result.Value, result.Read = w.ReadBack(ctx)
	return result
}

// ReadBack reads until the value is reached, or settle is over, and returns the last reading.
func (w Write[V]) ReadBack(ctx context.Context) (value V, err error) {
	Until(ctx, w.Settle, func() bool {
		value, err = w.Read(ctx)
		return err == nil && w.Reached(value) || w.Superseded != nil && w.Superseded()
	})
	return value, err
}
