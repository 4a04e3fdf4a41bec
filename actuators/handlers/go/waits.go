package handlers

import (
	"math"
	"sync"
	"time"
)

// waits makes of what database/sql counts, waits that began and the time of those that ended, how many wait. For several
// goroutines.
type waits struct {
	mu      sync.Mutex
	at      time.Time
	began   int64
	ended   time.Duration
	waiting int
}

const (
	// sameWithin: who asks sooner is told the same, so that several who ask do not take each other's waits away.
	sameWithin = time.Second
	// unknownAfter: a mean over longer says nothing of now.
	unknownAfter = time.Minute
)

// now is -1 at first, and when nobody asked for a minute. Since the last time, by Little's law,
//
//	time of waits that ended / time that passed    where some ended, and 1 at least
//	those of then, and those that began since      where none ended, as none comes back
//	0                                              where a connection is free
//
// With 6 s of waits in 2 s, 3 wait.
func (w *waits) now(began int64, ended time.Duration, full bool) int {
	return w.since(time.Now(), began, ended, full)
}

func (w *waits) since(now time.Time, began int64, ended time.Duration, full bool) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	passed, more := now.Sub(w.at), ended-w.ended
	switch {
	case w.at.IsZero() || passed > unknownAfter:
		w.waiting = -1
	case passed < sameWithin:
		return w.waiting
	case more > 0:
		w.waiting = max(1, int(math.Round(more.Seconds()/passed.Seconds())))
	case full:
		w.waiting = max(0, w.waiting) + int(began-w.began)
	default:
		w.waiting = 0
	}
	w.at, w.began, w.ended = now, began, ended
	return w.waiting
}
