package discover

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// Follow queries the source every interval, and at once when the source signals a change, until ctx ends. It calls changed
// when the instances differ from the last ones. A source that fails changes nothing, because its instances may still exist.
func Follow(ctx context.Context, source Source, interval time.Duration, changed func([]Found), log *slog.Logger) {
	var before []Found
	first, failing := true, ""
	var news <-chan struct{}
	if told, ok := source.(Prompt); ok {
		news = told.Changed()
	}
	for ctx.Err() == nil {
		asked, cancel := context.WithTimeout(ctx, max(interval, time.Second))
		found, err := source.Find(asked)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if failing != err.Error() {
				log.Warn("cannot find instances", "error", err)
			}
			failing = err.Error()
		default:
			if failing = ""; first || !slices.Equal(found, before) {
				log.Info("instances found", "instances", len(found))
				changed(found)
			}
			before, first = found, false
		}
		select {
		case <-ctx.Done():
		case <-news:
		case <-time.After(interval):
		}
	}
}
