package policy

import "time"

// Writes is what this process has written to the target so far; its zero value means nothing yet.
type Writes struct {
	// At is when the last write began.
	At time.Time
	// Size is the size of the last write, whatever came of it.
	Size uint32
	// Repeats counts how often Size has been written in a row: 1 after its first write.
	Repeats int
}

// Next returns w after one more write.
func (w Writes) Next(size uint32, at time.Time) Writes {
	if size != w.Size {
		return Writes{At: at, Size: size, Repeats: 1}
	}
	return Writes{At: at, Size: size, Repeats: w.Repeats + 1}
}

// maxDoublings bounds Wait at 64 cool-downs.
const maxDoublings = 6

// Wait is the least time between the last write and the next one:
//
//	cooldown                        for another size
//	cooldown * 2^min(repeats-1, 6)  for the same size again
//
// The same size is needed again when the target refused it, or when something else keeps moving the pool;
// both are reasons to ask less and less often. With a cool-down of 10 s: 10 s after the first write,
// 20 s after the second, 40 s after the third, never more than 640 s.
func (w Writes) Wait(size uint32, cooldown time.Duration) time.Duration {
	if w.Repeats == 0 {
		return 0
	}
	if size != w.Size {
		return cooldown
	}
	return cooldown << min(w.Repeats-1, maxDoublings)
}
