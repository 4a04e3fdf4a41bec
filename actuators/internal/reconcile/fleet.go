package reconcile

import (
	"context"
	"sync"
	"time"
)

// Worker is one target at work, in a goroutine of its own.
type Worker interface {
	// Pass makes one pass. superseded ends the wait for the next one when it is closed.
	Pass(ctx, work context.Context) (superseded <-chan struct{})
	// Leave runs after the last pass. stopping: the process has to stop; otherwise the target is gone.
	Leave(work context.Context, stopping bool)
}

// Change has all targets of a group from now on. Targets that stay continue undisturbed.
type Change[T any] struct {
	Group   string
	Targets []T
}

// Fleet runs each target in a goroutine of its own, so that a slow one delays no other.
type Fleet[T any] struct {
	Interval time.Duration
	// Grace bounds how long a write under way may go on after the end of Run's context.
	Grace time.Duration
	// Identify returns the name of a target, and its address: another address under the same name makes another target.
	Identify func(T) (name, address string)
	// Begin is called before the first pass of a target, End after its last.
	Begin func(T) Worker
	End   func(name string)
}

// Run makes a pass over each target every interval, and at once when the recommender's answers changed, until ctx ends. It
// returns when no write is under way. changes adds and ends targets; it may be nil.
func (f Fleet[T]) Run(ctx context.Context, targets []T, changes <-chan Change[T]) {
	Grace(ctx, f.Grace, func(work context.Context) {
		r := run[T]{Fleet: f, ctx: ctx, work: work, groups: map[string]map[string]*running{}}
		r.change(Change[T]{Targets: targets})
		for {
			select {
			case <-ctx.Done():
				r.all.Wait()
				return
			case change := <-changes:
				r.change(change)
			}
		}
	})
}

// run has the targets at work, by group and name.
type run[T any] struct {
	Fleet[T]
	ctx, work context.Context
	all       sync.WaitGroup
	groups    map[string]map[string]*running
}

type running struct {
	address string
	stop    context.CancelFunc
	done    chan struct{}
}

// change ends the targets that the group no longer has, after their writes under way, and starts the new ones.
func (r *run[T]) change(change Change[T]) {
	group := r.groups[change.Group]
	if group == nil {
		group = map[string]*running{}
		r.groups[change.Group] = group
	}
	addresses := map[string]string{}
	for _, target := range change.Targets {
		name, address := r.Identify(target)
		if _, twice := addresses[name]; !twice {
			addresses[name] = address
		}
	}
	for name, target := range group {
		if address, stays := addresses[name]; !stays || address != target.address {
			target.stop()
			<-target.done
			if r.End != nil {
				r.End(name)
			}
			delete(group, name)
		}
	}
	for _, target := range change.Targets {
		name, address := r.Identify(target)
		if _, there := group[name]; !there {
			group[name] = r.begin(target, address)
		}
	}
}

func (r *run[T]) begin(target T, address string) *running {
	ctx, stop := context.WithCancel(r.ctx)
	started := &running{address: address, stop: stop, done: make(chan struct{})}
	worker := r.Begin(target)
	r.all.Go(func() {
		defer close(started.done)
		Every(ctx, r.Interval, func() <-chan struct{} { return worker.Pass(ctx, r.work) })
		worker.Leave(r.work, r.ctx.Err() != nil)
	})
	return started
}
