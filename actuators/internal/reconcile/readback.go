package reconcile

import (
	"context"
	"time"
)

// Pauses between readings. Most targets show a value at once, and an actuation lasts until the reading after its last pause:
// 2, 4, 8 .. 128, then 250 ms each. So a change that takes 10 ms is seen after 14, and one that takes a second was read 11
// times.
const first, longest = 2 * time.Millisecond, 250 * time.Millisecond

// Until reads at once, and again after each pause, until read returns true, `within` is over, or ctx ends. The last reading
// is at the end of `within`, not before it.
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
