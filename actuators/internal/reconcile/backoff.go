package reconcile

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	firstBackoff = 500 * time.Millisecond
	// maxBackoff bounds how long the return of a recommender may go unnoticed.
	maxBackoff = 10 * time.Second
	// maxDoublings bounds BackOff at 64 cool-downs.
	maxDoublings = 6
)

// Pauses are those between attempts to reach the recommender: they grow from 0.5 s to 10 s. Each varies by half of itself, so
// that the actuators of a restarted recommender do not all come back at once.
func Pauses() *backoff.ExponentialBackOff {
	retry := backoff.NewExponentialBackOff()
	retry.InitialInterval, retry.MaxInterval = firstBackoff, maxBackoff
	return retry
}

// BackOff is the least time between two writes of the same value, after `repeats` writes of it beyond the first one. It
// doubles with each: a value that a place does not keep, or that somebody else changes again and again, is written ever more
// rarely.
func BackOff(cooldown time.Duration, repeats int) time.Duration {
	return cooldown << min(repeats, maxDoublings)
}
