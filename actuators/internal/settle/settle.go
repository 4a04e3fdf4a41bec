// Package settle waits until a target shows what was written to it.
package settle

import (
	"context"
	"time"
)

// Most targets show it at once, and an actuation is as long as its last pause: 2, 4, 8 .. 128, then 250 ms each, so what
// takes 10 ms is seen after 14, and one that takes a second was read 11 times.
const first, longest = 2 * time.Millisecond, 250 * time.Millisecond

// Until reads at once, and again after each pause, until read says that it is enough, `within` is over, or ctx ends. The
// last reading is at the end of `within`, not before it.
func Until(ctx context.Context, within time.Duration, read func() (enough bool)) {
	deadline := time.Now().Add(within)
	for pause := first; ; pause = min(2*pause, longest) {
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
