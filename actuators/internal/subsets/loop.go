package subsets

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/reconcile"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Target is the connection subset of one caller at one called service.
type Target struct {
	Name     string
	Key      *subsetsv1.SubsetKey
	Rules    Rules
	Realizer Realizer
	// Settle is how long a written set may take to come into force.
	Settle time.Duration
	// RemoveOnExit removes the subset on SIGTERM.
	RemoveOnExit bool
	// Object is the caller's pod in an orchestrator; empty elsewhere.
	Object discover.Object
	// Latest returns the caller's newest subsets.
	Latest func() Snapshot
}

// Loop runs each target in a goroutine of its own. It reads the set in force every interval, and at once when the
// recommender's subsets changed.
type Loop struct {
	Interval time.Duration
	// Grace bounds how long a write under way may go on after the end of Run's context.
	Grace time.Duration
	// Actuator is this process's name in reports.
	Actuator string
	// Reporter queues reports to the recommender, without blocking; *Reporter is one.
	Reporter interface{ Report(Report) }
	// Stopped is the kill switch; nil never stops.
	Stopped func() bool
	// Owner is called at each pass, also for a target that is only read. It returns nil where this process may write the
	// target. The error names the owner, or the reason why the owner is not known. A nil Owner: no other process can own the
	// target.
	Owner func(context.Context, Target) error
	// Holder names this process where it claims a place that processes of several hosts reach.
	Holder string
	// Show receives the status after each pass; it may be nil.
	Show func(Status)
	Log  *slog.Logger

	mu    sync.Mutex
	shown map[string]Status
}

// Run works until ctx ends, and returns when no write is under way.
func (l *Loop) Run(ctx context.Context, targets []Target) {
	reconcile.Fleet[Target]{
		Interval: l.Interval, Grace: l.Grace,
		Identify: func(t Target) (name, address string) { return t.Name, "" },
		Begin:    func(t Target) reconcile.Worker { return l.worker(t) },
	}.Run(ctx, targets, nil)
}

// Once makes one pass over a target with the recommender's subset, and returns its status. Error: the set in force could not
// be read, or was not written where it should have been.
func (l *Loop) Once(ctx context.Context, target Target, answer *subsetsv1.Subset) (Status, error) {
	p := l.worker(target).pass(ctx, ctx, answer)
	return p.status, p.err
}

// Remove removes a subset, also of a target that did not opt in, unless another process owns it.
func (l *Loop) Remove(ctx context.Context, target Target) error {
	target.Rules.Apply = true
	w := l.worker(target)
	if err := w.foreign(ctx); err != nil {
		return err
	}
	return w.Realizer.Remove(ctx)
}

// DryRun is a pass that only reads and decides, as if the target had opted in.
func (l *Loop) DryRun(ctx context.Context, target Target, answer *subsetsv1.Subset) (Set, Decision, error) {
	w := l.worker(target)
	inForce, err := w.Realizer.Read(ctx)
	rules := w.rules()
	rules.Apply = true
	return inForce, Decide(rules, answer, inForce, Writes{}, time.Now()), err
}
