package policy

import (
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/reconcile"
)

// Writes is the history of this process's writes to the target; its zero value means none yet.
type Writes struct {
	// At is when the last write began.
	At time.Time
	// Size is the size of the last write, whatever its end.
	Size uint32
	// Repeats counts how often Size has been written in a row: 1 after its first write.
	Repeats int
	// Kept is the last size that was written and then read; 0 before the first.
	Kept uint32
	// Full is when all writes of an hour are available again; before that, some are spent.
	Full time.Time
}

// Next returns w after one more write.
func (w Writes) Next(size uint32, at time.Time) Writes {
	if size != w.Size {
		w.Repeats = 0
	}
	w.At, w.Size, w.Repeats = at, size, w.Repeats+1
	return w
}

// Spend returns w after one of the writes of an hour; perHour of 0 is no limit.
func (w Writes) Spend(perHour int, at time.Time) Writes {
	if perHour > 0 {
		w.Full = later(w.Full, at).Add(time.Hour / time.Duration(perHour))
	}
	return w
}

// Spent is true when no write of perHour is left: each becomes available an hour / perHour after the one before.
func (w Writes) Spent(perHour int, now time.Time) bool {
	return perHour > 0 && w.Spend(perHour, now).Full.Sub(now) > time.Hour
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// From corrects w for a clock that shows now. After the clock was set back, waits would otherwise last as long as the clock
// was set back.
func (w Writes) From(now time.Time) Writes {
	if w.At.After(now) {
		w.At = now
	}
	if most := now.Add(time.Hour); w.Full.After(most) {
		w.Full = most
	}
	return w
}

// Rest ends the back-off once the size of the last write has been in force for as long as the next write of it would have had
// to wait. Then nobody keeps changing the pool any more.
func (w Writes) Rest(size pool.Size, cooldown time.Duration, now time.Time) Writes {
	if w.Repeats > 1 && size == pool.Of(w.Size) && now.Sub(w.At) >= w.Wait(w.Size, cooldown) {
		w.Repeats = 1
	}
	return w
}

// Read returns w after the target was read as `size`. That may be long after the write: a size that comes into force late is
// kept, too.
func (w Writes) Read(size pool.Size) Writes {
	if w.Repeats > 0 && size == pool.Of(w.Size) {
		w.Kept = w.Size
	}
	return w
}

// Wait is the least time between the last write and the next one:
//
//	cooldown                        for another size
//	0                               for the size of the last write, once, when it was kept
//	cooldown * 2^min(repeats-1, 6)  for the size of the last write otherwise
//
// A size that was kept and is no longer in force was changed by somebody else. That is not a change of this process: the
// first time it is put right without waiting. The same size has to be written again when the target refused it, or when
// somebody keeps changing the pool; in both cases the writes become rarer. With a cool-down of 10 s, a size that is not kept
// waits for 10 s after the first write, 20 s after the second, 40 s after the third, and at most 640 s.
func (w Writes) Wait(size uint32, cooldown time.Duration) time.Duration {
	switch {
	case w.Repeats == 0:
		return 0
	case size != w.Size:
		return cooldown
	case w.Repeats == 1 && size == w.Kept:
		return 0
	default:
		return reconcile.BackOff(cooldown, w.Repeats-1)
	}
}
