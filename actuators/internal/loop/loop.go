// Package loop is the actuator's whole cycle: observe, decide, apply, read back, report.
package loop

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"sluice.dev/actuators/internal/audit"
	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/grace"
	"sluice.dev/actuators/internal/policy"
	"sluice.dev/actuators/internal/pool"
	"sluice.dev/actuators/internal/realize"
	"sluice.dev/actuators/internal/state"
	"sluice.dev/actuators/internal/watch"
)

// Target is one pool of one instance, and what may be done to it.
type Target struct {
	Name string
	// Instance is which replica of the service the target is.
	Instance string
	// Address is where and how it was found; another one is another target. Empty for one that was not looked for.
	Address string
	// Object is what the target is in an orchestrator; empty elsewhere.
	Object   discover.Object
	Pool     pool.Key
	Rules    policy.Rules
	Settle   time.Duration
	Realizer realize.Realizer
	// RestoreOnExit puts the original size back when the process is told to stop.
	RestoreOnExit bool
}

// Source shows the newest answers; *watch.Watcher is one.
type Source interface{ Latest() watch.Snapshot }

// Reporter takes what goes to the recommender, without blocking; *audit.Reporter is one.
type Reporter interface{ Report(audit.Report) }

// Recorder is shown every pass, and which targets there are; *status.Board is one.
type Recorder interface {
	Record(Pass)
	// Begin comes before the first pass of a target, End after its last.
	Begin(Target)
	End(name string)
}

// Owner keeps two actuators from writing one target; *kube.Ledger is one.
type Owner interface {
	// Claim is nil while the target is this process's to write. The error says whose it is, or why that is not known.
	Claim(ctx context.Context, t Target) error
}

// Change says which targets a group has from now on. What is in it already goes on undisturbed.
type Change struct {
	Group   string
	Targets []Target
}

// Loop works on each target in a goroutine of its own, so that a slow one holds up no other.
type Loop struct {
	// Actuator is this process's name in reports.
	Actuator string
	Interval time.Duration
	// Grace bounds how long a write under way may go on after the end of Run's context.
	Grace    time.Duration
	Source   Source
	Reporter Reporter
	Recorder Recorder
	Log      *slog.Logger
	// Book has what outlives a pass; without one it lives as long as the Loop.
	Book *state.Book
	// Stopped is the kill switch; nil is one that is never on.
	Stopped func() bool
	// Owner is asked before each pass; nil: every target is this process's.
	Owner Owner
	// Identity is the configuration that this process runs, the same after a restart and no other process's at the same time. The
	// recommender refuses a second one that reports a target. Empty: targets are reported by nobody in particular.
	Identity string
	// Holder names this process where it claims a place that processes of several hosts reach.
	Holder string
}

// Run passes over each target every interval, and at once when other answers came, until ctx ends. It returns
// when no write is under way any more. Targets of changes come and go; changes may be nil.
func (l *Loop) Run(ctx context.Context, targets []Target, changes <-chan Change) {
	l.each(ctx, func(work context.Context) {
		f := fleet{Loop: l, work: work, running: map[string]map[string]*running{}}
		f.change(ctx, Change{Targets: targets})
		for {
			select {
			case <-ctx.Done():
				f.all.Wait()
				return
			case change := <-changes:
				f.change(ctx, change)
			}
		}
	})
}

// Once makes one pass over every target and returns what came of each, in no order.
func (l *Loop) Once(ctx context.Context, targets []Target) []Pass {
	var mu sync.Mutex
	var passes []Pass
	l.each(ctx, func(work context.Context) {
		var all sync.WaitGroup
		for _, target := range targets {
			all.Go(func() {
				p := (&worker{Loop: l, Target: target}).pass(ctx, work, l.Source.Latest())
				mu.Lock()
				defer mu.Unlock()
				passes = append(passes, p)
			})
		}
		all.Wait()
	})
	return passes
}

// DryRun reads every target once and returns what would be done at each, opted in or not. Nothing is written, reported or
// stored.
func (l *Loop) DryRun(ctx context.Context, targets []Target) []Pass {
	passes := make([]Pass, len(targets))
	l.each(ctx, func(work context.Context) {
		var all sync.WaitGroup
		for i, target := range targets {
			all.Go(func() { passes[i] = (&worker{Loop: l, Target: target}).look(work, l.Source.Latest()) })
		}
		all.Wait()
	})
	return passes
}

// Restore puts the original size of every target back that has one, and returns what came of each, by name.
func (l *Loop) Restore(ctx context.Context, targets []Target) map[string]error {
	ended := map[string]error{}
	l.each(ctx, func(work context.Context) {
		for _, target := range targets {
			w := &worker{Loop: l, Target: target}
			if _, err := w.restore(work); !errors.Is(err, errNothing) {
				ended[target.Name] = err
			}
		}
	})
	return ended
}

// each calls do with `work`, a context that outlives ctx by the grace.
func (l *Loop) each(ctx context.Context, do func(work context.Context)) {
	if l.Book == nil {
		l.Book = state.NewBook(&state.Memory{})
	}
	grace.Do(ctx, l.Grace, do)
}
