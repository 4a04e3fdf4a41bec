// Package watch keeps the recommender's newest answers, and the last good ones when it is lost.
package watch

import (
	"context"
	"time"

	sluicev1 "sluice.dev/actuators/gen/sluice/v1"
	"sluice.dev/actuators/internal/pool"
)

// Source is where answers come from. Poller asks for the list again and again; a server-streaming watch fits
// the same shape: Run receives, Latest shows.
type Source interface {
	// Run keeps Latest current until ctx ends.
	Run(ctx context.Context)
	// Latest returns at once, whatever the recommender does.
	Latest() Snapshot
}

// Snapshot is everything known at one instant. It is shared and never changed.
type Snapshot struct {
	// Sizes are the last answers received, also when the recommender was lost since. nil before the first.
	Sizes map[pool.Key]*sluicev1.PoolSize
	// ReceivedAt is when Sizes came; zero before the first.
	ReceivedAt time.Time
	// Err is why the newest attempt failed; nil while the recommender is reachable.
	Err error
	// Superseded is closed when other answers have come.
	Superseded <-chan struct{}
}

// Reachable reports whether the newest attempt succeeded.
func (s Snapshot) Reachable() bool { return s.Err == nil && !s.ReceivedAt.IsZero() }
