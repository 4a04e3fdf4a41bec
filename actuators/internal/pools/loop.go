// Package pools sizes soft resources: it reconciles the size of each target with the recommender's decision for its pool.
package pools

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/realize"
	"sluice.dev/actuators/internal/pools/state"
	"sluice.dev/actuators/internal/pools/watch"
	"sluice.dev/actuators/internal/reconcile"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Target is one pool of one instance, and the rules for writing it.
type Target struct {
	Name string
	// Instance is the replica of the service.
	Instance string
	// Address is the identity of a discovered instance, or of the version of a configured target: another address makes
	// another target, which has the state of the last one of its name.
	Address string
	// Object is the target's pod in an orchestrator; empty elsewhere.
	Object   discover.Object
	Workload discover.Workload
	Pool     pool.Key
	Rules    policy.Rules
	Settle   time.Duration
	// SLO of the pool's service, for reports; 0: none.
	SLO      time.Duration
	Realizer realize.Realizer
	// RestoreOnExit writes the original size back on SIGTERM.
	RestoreOnExit bool
}

// Source has the newest decisions; *watch.Watcher is one.
type Source interface{ Latest() watch.Snapshot }

// Recorder receives every pass, and the start and end of targets; *status.Board is one.
type Recorder interface {
	Record(Pass)
	// Begin comes before the first pass of a target, End after its last.
	Begin(Target)
	End(name string)
}

// Owner keeps two actuators from writing one target; *kube.Ledger is one.
type Owner interface {
	// Claim returns nil while this process may write the target. The error names the owner, or the reason why the owner is
	// not known.
	Claim(ctx context.Context, t Target) error
}

// Change has all targets of a group from now on.
type Change = reconcile.Change[Target]

// Report is a message to the recommender about a target.
type Report = reconcile.Report[*poolsv1.ReportActuationRequest]

// Reporter sends reports to the recommender.
type Reporter = reconcile.Reporter[*poolsv1.ReportActuationRequest]

// Loop runs each target in a goroutine of its own, so that a slow one delays no other.
type Loop struct {
	// Actuator is this process's name in reports.
	Actuator string
	Interval time.Duration
	// Grace bounds how long a write under way may go on after the end of Run's context.
	Grace  time.Duration
	Source Source
	// Reporter queues reports to the recommender, without blocking; *Reporter is one.
	Reporter interface{ Report(Report) }
	Recorder Recorder
	Log      *slog.Logger
	// Book has the state that outlives a pass; without one the state ends with the Loop.
	Book *state.Book
	// Stopped is the kill switch; nil never stops.
	Stopped func() bool
	// Owner is called before each pass; nil: this process owns every target.
	Owner Owner
	// Identity names the configuration that this process runs. It is the same after a restart, and no other process has it at
	// the same time. The recommender refuses a second identity that reports a target. Empty: reports have no reporter.
	Identity string
	// Holder names this process where it claims a place that processes of several hosts reach.
	Holder string
}

// Run makes a pass over each target every interval, and at once when decisions changed, until ctx ends. It returns when no
// write is under way. changes adds and ends targets; it may be nil.
func (l *Loop) Run(ctx context.Context, targets []Target, changes <-chan Change) {
	l.openBook()
	reconcile.Fleet[Target]{
		Interval: l.Interval, Grace: l.Grace,
		Identify: func(t Target) (name, address string) { return t.Name, t.Address },
		Begin: func(t Target) reconcile.Worker {
			l.Recorder.Begin(t)
			return &worker{Loop: l, Target: t}
		},
		End: l.Recorder.End,
	}.Run(ctx, targets, changes)
}

// Once makes one pass over every target and returns the passes, in the order of targets.
func (l *Loop) Once(ctx context.Context, targets []Target) []Pass {
	return l.passes(ctx, targets, func(w *worker, work context.Context) Pass { return w.pass(ctx, work, l.Source.Latest()) })
}

// DryRun reads every target once and returns the decision for each, in order, as if it had opted in. It writes, reports and
// stores nothing.
func (l *Loop) DryRun(ctx context.Context, targets []Target) []Pass {
	return l.passes(ctx, targets, func(w *worker, work context.Context) Pass { return w.look(work, l.Source.Latest()) })
}

// passes calls pass for all targets at the same time.
func (l *Loop) passes(ctx context.Context, targets []Target, pass func(w *worker, work context.Context) Pass) []Pass {
	passes := make([]Pass, len(targets))
	l.withGrace(ctx, func(work context.Context) {
		var all sync.WaitGroup
		for i, target := range targets {
			all.Go(func() { passes[i] = pass(&worker{Loop: l, Target: target}, work) })
		}
		all.Wait()
	})
	return passes
}

// Restore writes the original size of every target that has one, and returns the results by name.
func (l *Loop) Restore(ctx context.Context, targets []Target) map[string]error {
	results := map[string]error{}
	l.withGrace(ctx, func(work context.Context) {
		for _, target := range targets {
			w := &worker{Loop: l, Target: target}
			if _, err := w.restore(work); !errors.Is(err, errNothing) {
				results[target.Name] = err
			}
		}
	})
	return results
}

// withGrace calls do with `work`, a context that outlives ctx by the grace.
func (l *Loop) withGrace(ctx context.Context, do func(work context.Context)) {
	l.openBook()
	reconcile.Grace(ctx, l.Grace, do)
}

func (l *Loop) openBook() {
	if l.Book == nil {
		l.Book = state.NewBook(&state.Memory{})
	}
}
