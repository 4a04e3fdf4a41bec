package handlers

import (
	"math"
	"sync"
	"time"
)

// waits derives the number of waiting callers from the counters of database/sql: waits that began, and the duration of those
// that ended. It is safe for several goroutines.
type waits struct {
	mu      sync.Mutex
	at      time.Time
	began   int64
	ended   time.Duration
	waiting int
}

const (
	// sameWithin: within this time now returns the same value again, so that several clients do not take each other's waits
	// away.
	sameWithin = time.Second
	// unknownAfter: a mean over a longer time does not describe the present.
	unknownAfter = time.Minute
)

// now returns -1 at first, and when nobody called it for a minute. Otherwise, since the last call, by Little's law,
//
//	time of waits that ended / time that passed    where some ended, at least 1
//	waits then, plus those that began since        where none ended, since none came back
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
