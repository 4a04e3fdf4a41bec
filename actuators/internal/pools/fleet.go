package pools

import (
	"context"
	"errors"
	"sync"
	"time"

	"sluice.dev/actuators/internal/disk"
)

// fleet has the targets at work, each in a goroutine of its own, by group and name.
type fleet struct {
	*Loop
	work    context.Context
	all     sync.WaitGroup
	running map[string]map[string]*running
}

type running struct {
	address string
	stop    context.CancelFunc
	done    chan struct{}
}

// change ends the targets that the group no longer has, after their writes under way, and starts the new ones.
func (f *fleet) change(ctx context.Context, change Change) {
	before := f.running[change.Group]
	if before == nil {
		before = map[string]*running{}
		f.running[change.Group] = before
	}
	stay := map[string]string{}
	for _, t := range change.Targets {
		if _, twice := stay[t.Name]; !twice {
			stay[t.Name] = t.Address
		}
	}
	for name, r := range before {
		if address, ok := stay[name]; !ok || address != r.address {
			r.stop()
			<-r.done
			f.Recorder.End(name)
			delete(before, name)
		}
	}
	for _, t := range change.Targets {
		if _, there := before[t.Name]; !there {
			before[t.Name] = f.begin(ctx, t)
		}
	}
}

func (f *fleet) begin(process context.Context, target Target) *running {
	ctx, stop := context.WithCancel(process)
	r := &running{address: target.Address, stop: stop, done: make(chan struct{})}
	f.Recorder.Begin(target)
	f.all.Go(func() {
		defer close(r.done)
		w := &worker{Loop: f.Loop, Target: target}
		for ctx.Err() == nil {
			answers := f.Source.Latest()
			w.pass(ctx, f.work, answers)
			select {
			case <-ctx.Done():
			case <-answers.Superseded:
			case <-time.After(f.Interval):
			}
		}
		if w.RestoreOnExit && w.Rules.Apply && !w.rulesHere().Stopped && process.Err() != nil {
			if _, err := w.restore(f.work); err != nil && !errors.Is(err, errNothing) {
				f.Log.Error("cannot restore the original size", "target", w.Name, "error", err)
			}
		}
		if place, shared := target.Realizer.(disk.Claimer); shared {
			place.Release()
		}
	})
	return r
}
