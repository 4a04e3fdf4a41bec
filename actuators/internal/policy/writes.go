package policy

import (
	"time"

	"sluice.dev/actuators/internal/pool"
)

// Writes is what this process has written to the target so far; its zero value means nothing yet.
type Writes struct {
	// At is when the last write began.
	At time.Time
	// Size is the size of the last write, whatever came of it.
	Size uint32
	// Repeats counts how often Size has been written in a row: 1 after its first write.
	Repeats int
	// Kept is the last size that was written and then read; 0 before the first.
	Kept uint32
}

// Next returns w after one more write.
func (w Writes) Next(size uint32, at time.Time) Writes {
	if size != w.Size {
		return Writes{At: at, Size: size, Repeats: 1, Kept: w.Kept}
	}
	return Writes{At: at, Size: size, Repeats: w.Repeats + 1, Kept: w.Kept}
}

// Read returns w after the target was read as `size`. That may be long after the write: a size that took its time
// is kept all the same.
func (w Writes) Read(size pool.Size) Writes {
	if w.Repeats > 0 && size == pool.Of(w.Size) {
		w.Kept = w.Size
	}
	return w
}

// maxDoublings bounds Wait at 64 cool-downs.
const maxDoublings = 6

// Wait is the least time between the last write and the next one:
//
//	cooldown                        for another size
//	0                               for the size of the last write, once, when it was kept
//	cooldown * 2^min(repeats-1, 6)  for the size of the last write otherwise
//
// A size that was kept and is not in place any more was changed by somebody else. That is no change of ours: the
// first time it is put right without waiting. The same size is needed once more when the target refused it, or when
// something else keeps moving the pool; both are reasons to ask less and less often. With a cool-down of 10 s, of
// a size that is not kept: 10 s after the first write, 20 s after the second, 40 s after the third, never more than
// 640 s.
func (w Writes) Wait(size uint32, cooldown time.Duration) time.Duration {
	switch {
	case w.Repeats == 0:
		return 0
	case size != w.Size:
		return cooldown
	case w.Repeats == 1 && size == w.Kept:
		return 0
	default:
		return cooldown << min(w.Repeats-1, maxDoublings)
	}
}
