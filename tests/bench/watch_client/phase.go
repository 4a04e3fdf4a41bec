package main

import "sync"

// phase is what all watchers are at: until each had a batch, with an answer where one is asked for.
type phase struct {
	answer bool
	all    sync.WaitGroup

	mu    sync.Mutex
	first int64 // when the first was done, by CLOCK_MONOTONIC
	whole int   // how many were sent everything
}

// begin puts all watchers to a new phase.
func begin(watchers []*watcher, answer bool) *phase {
	p := &phase{answer: answer}
	p.all.Add(len(watchers))
	for _, w := range watchers {
		w.at, w.whole = 0, false
		w.phase.Store(p)
	}
	return p
}

// end is called at the end of a batch.
func (p *phase) end(w *watcher) {
	if p.answer && w.at == 0 || !w.phase.CompareAndSwap(p, nil) {
		return
	}
	p.mu.Lock()
	if p.first == 0 {
		p.first = monotonic()
	}
	if w.whole {
		p.whole++
	}
	p.mu.Unlock()
	p.all.Done()
}

// wait returns the seconds from the first that was done to the last.
func (p *phase) wait() float64 {
	p.all.Wait()
	return float64(monotonic()-p.first) / 1e9
}
