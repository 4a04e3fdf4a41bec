package discover

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// Follow asks the source every interval, and when it has news, until ctx ends, and calls changed with what is there when that is news. A source
// that fails changes nothing: instances that may still be there are not given up for it.
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
