package discover

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"sluice.dev/actuators/internal/reconcile"
)

// Follow queries the source every interval, and at once when the source signals a change, until ctx ends. It calls changed
// when the instances differ from the last ones. A source that fails changes nothing, because its instances may still exist.
func Follow(ctx context.Context, source Source, interval time.Duration, changed func([]Endpoint), log *slog.Logger) {
	var before []Endpoint
	first, failing := true, ""
	var news <-chan struct{}
	if prompt, ok := source.(Prompt); ok {
		news = prompt.Changed()
	}
	reconcile.Every(ctx, interval, func() <-chan struct{} {
		within, cancel := context.WithTimeout(ctx, max(interval, time.Second))
		endpoints, err := source.Find(within)
		cancel()
		switch {
		case ctx.Err() != nil:
		case err != nil:
			if failing != err.Error() {
				log.Warn("cannot find instances", "error", err)
			}
			failing = err.Error()
		default:
			if failing = ""; first || !slices.Equal(endpoints, before) {
				log.Info("instances found", "instances", len(endpoints))
				changed(endpoints)
			}
			before, first = endpoints, false
		}
		return news
	})
}
