package pools

import (
	"log/slog"
	"testing"
	"time"

	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/state"
)

// A record from the disk has the time of day only. When the clock is set back while the process runs, the next write must not
// wait until the clock is there again.
func TestTheClockIsSetBackWhileItRuns(t *testing.T) {
	book := state.NewBook(&state.Memory{})
	w := &worker{Loop: &Loop{Book: book, Log: slog.New(slog.DiscardHandler)}, Target: Target{
		Name: "cart.threads", Rules: policy.Rules{Cooldown: 10 * time.Second, PerHour: 6},
	}}
	w.recall() // the first pass, before the clock is set
	later := time.Now().Round(0).Add(10 * time.Hour)
	err := book.Update(w.Name, func(r state.Record) state.Record {
		r.Writes = policy.Writes{At: later, Size: 12, Repeats: 1, Kept: 12, Full: later.Add(10 * time.Minute)}
		return r
	})
	if err != nil {
		t.Fatal(err)
	}
	writes := w.writesAt(pool.Of(12))
	if wait := time.Until(writes.At.Add(writes.Wait(16, w.Rules.Cooldown))); wait > 10*time.Second {
		t.Errorf("another size waits for %s, want a cool-down at most", wait)
	}
	if left := time.Until(writes.Full); left > time.Hour {
		t.Errorf("the writes of an hour are there again in %s", left)
	}
}
