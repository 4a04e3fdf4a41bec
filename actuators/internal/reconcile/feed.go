package reconcile

import (
	"fmt"
	"maps"
)

// Feed sums up the events of a watch. Publications A count once their snapshot or heartbeat came: so those of one period count
// together, and a stream that breaks before that changes nothing. It is for one goroutine.
type Feed[K comparable, A any] struct {
	// Key returns the key of a publication: the newest of a key counts.
	Key func(A) K
	// Answers are the publications that count; nil before the first snapshot or heartbeat. Readers share the map: it never
	// changes.
	Answers map[K]A
	// Token resumes behind the last snapshot or heartbeat; empty before the first.
	Token string
	batch []A
}

// Restart drops the incomplete batch of a broken stream.
func (f *Feed[K, A]) Restart() { f.batch = nil }

// Add adds a publication to the batch.
func (f *Feed[K, A]) Add(publication A) { f.batch = append(f.batch, publication) }

// Snapshot makes the batch all publications there are. Error: it has not `count` of them; the next stream then begins anew.
func (f *Feed[K, A]) Snapshot(count uint32, token string) error {
	if int(count) != len(f.batch) {
		f.Token = ""
		return fmt.Errorf("a snapshot of %d publications came with %d", count, len(f.batch))
	}
	f.Answers = f.With(nil, f.batch)
	f.Token, f.batch = token, nil
	return nil
}

// Heartbeat adds the batch to the publications before.
func (f *Feed[K, A]) Heartbeat(token string) {
	if len(f.batch) > 0 || f.Answers == nil {
		f.Answers = f.With(f.Answers, f.batch)
	}
	f.Token, f.batch = token, nil
}

// With returns a new map with the publications of both, those of batch before those of answers.
func (f *Feed[K, A]) With(answers map[K]A, batch []A) map[K]A {
	all := make(map[K]A, len(answers)+len(batch))
	maps.Copy(all, answers)
	for _, publication := range batch {
		all[f.Key(publication)] = publication
	}
	return all
}
