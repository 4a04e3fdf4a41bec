package subsets

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/disk"
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
	// Tell queues a report to the recommender, without blocking.
	Tell func(*subsetsv1.Delivery)
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

	mu     sync.Mutex
	shown  map[string]Status
	counts map[string]map[string]uint64
}

// Run works until ctx ends, and returns when no write is under way.
func (l *Loop) Run(ctx context.Context, targets []Target) {
	reconcile.Grace(ctx, l.Grace, func(work context.Context) {
		var all sync.WaitGroup
		for _, target := range targets {
			all.Go(func() { (&worker{Loop: l, Target: target}).run(ctx, work) })
		}
		all.Wait()
	})
}

// Once makes one pass over a target with the recommender's subset, and returns its status. Error: the set in force could not
// be read, or was not written where it should have been.
func (l *Loop) Once(ctx context.Context, target Target, answer *subsetsv1.Subset) (Status, error) {
	w := &worker{Loop: l, Target: target}
	return w.pass(ctx, ctx, answer)
}

// Remove removes a subset, also of a target that did not opt in, unless another process owns it.
func (l *Loop) Remove(ctx context.Context, target Target) error {
	target.Rules.Apply = true
	w := &worker{Loop: l, Target: target}
	if foreign := w.foreign(ctx); foreign != "" {
		return errors.New(foreign)
	}
	return w.Realizer.Remove(ctx)
}

// DryRun is a pass that only reads and decides, as if the target had opted in.
func (l *Loop) DryRun(ctx context.Context, target Target, answer *subsetsv1.Subset) (Set, Decision, error) {
	w := &worker{Loop: l, Target: target}
	inForce, err := w.Realizer.Read(ctx)
	rules := w.rules()
	rules.Apply = true
	return inForce, Decide(rules, answer, inForce, Writes{}, time.Now()), err
}

// worker handles one target. It needs no state but the set in force, which outlives it.
type worker struct {
	*Loop
	Target
	writes Writes
	// told is the last report to the recommender.
	told   told
	logged told
}

// told has the fields by which two reports differ.
type told struct {
	outcome  subsetsv1.DeliveryOutcome
	revision uint64
	detail   string
}

// run passes over the target until ctx ends; work ends a grace later.
func (w *worker) run(ctx, work context.Context) {
	for ctx.Err() == nil {
		latest := w.Latest()
		w.pass(ctx, work, latest.Answers[w.Key.GetDownstream()])
		select {
		case <-ctx.Done():
		case <-latest.Superseded:
		case <-time.After(w.Interval):
		}
	}
	if w.RemoveOnExit && w.Rules.Apply && !w.stopped() {
		if err := w.Loop.Remove(work, w.Target); err != nil {
			w.Log.Error("cannot remove the subset", "subset", w.Name, "error", err)
		} else {
			w.Log.Info("subset removed", "subset", w.Name)
		}
	}
}

func (w *worker) stopped() bool { return w.Stopped != nil && w.Stopped() }

// rules are the target's, with the present state of the kill switch.
func (w *worker) rules() Rules {
	rules := w.Rules
	rules.Stopped = w.stopped()
	return rules
}

// foreign names another owner of the target, if any.
func (w *worker) foreign(ctx context.Context) string {
	if place, shared := w.Realizer.(disk.Claimer); shared && w.Rules.Apply {
		if err := place.Claim(w.Holder); err != nil {
			return err.Error()
		}
	}
	if w.Owner != nil {
		if err := w.Owner(ctx, w.Target); err != nil {
			return err.Error()
		}
	}
	return ""
}

// pass is the whole cycle. ctx ends when the process has to stop, work a grace later.
func (w *worker) pass(ctx, work context.Context, answer *subsetsv1.Subset) (Status, error) {
	now := time.Now()
	inForce, err := w.Realizer.Read(ctx)
	if err != nil {
		if ctx.Err() == nil {
			w.say(slog.LevelWarn, told{detail: err.Error()}, "cannot read the subset in force")
		}
		return w.show(Status{At: now, Error: err.Error()}, answer), err
	}
	w.writes = w.writes.Rest(inForce, w.Rules.Cooldown, now)
	rules := w.rules()
	rules.Foreign = w.foreign(work)
	decision := Decide(rules, answer, inForce, w.writes, now)
	without := strings.Join(decision.Notes, "; ")
	if decision.Action == Write {
		inForce, err = w.write(work, decision.Set, inForce)
		if err != nil {
			w.count("FAILED")
			decision.Text = err.Error()
			w.tell(answer, subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_REFUSED, err.Error())
			w.say(slog.LevelWarn, told{revision: answer.GetRevision(), detail: err.Error()}, "subset not in force")
		} else {
			w.count("APPLIED")
			w.tell(answer, subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_APPLIED, without)
			w.Log.Info("subset applied", "subset", w.Name, "revision", answer.GetRevision(), "members", len(inForce), "difference", decision.Text)
		}
	}
	switch {
	case decision.Action == Refuse && w.Rules.Apply:
		if w.tell(answer, subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_REFUSED, decision.Text) {
			w.count("REFUSED")
		}
		err = errors.New(decision.Text)
	case decision.Code == InForce && w.Rules.Apply:
		// Also where this process did not write it: an earlier process may have ended between its write and its report.
		w.tell(answer, subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_APPLIED, without)
	}
	if decision.Action != Write {
		w.say(slog.LevelInfo, told{revision: answer.GetRevision(), detail: string(decision.Code)}, string(decision.Action), "code", decision.Code, "detail", decision.Text)
	}
	return w.show(Status{At: now, Members: inForce.String(), Code: string(decision.Code), Text: decision.Text, Without: without, Wanted: decision.Set.String()}, answer), err
}

// write writes the set and reads back until it is in force, or until Settle is over.
func (w *worker) write(ctx context.Context, set, before Set) (Set, error) {
	w.writes = w.writes.Next(set, time.Now())
	if err := w.Realizer.Write(ctx, set); err != nil {
		if now, readErr := w.Realizer.Read(ctx); readErr == nil {
			before = now
		}
		return before, err
	}
	now, err := before, error(nil)
	reconcile.Until(ctx, w.Settle, func() bool {
		now, err = w.Realizer.Read(ctx)
		return err == nil && now.Equal(set)
	})
	switch {
	case err != nil:
		return before, err
	case !now.Equal(set):
		return now, errors.New("read back " + now.String() + ", want " + set.String())
	default:
		return now, nil
	}
}

// tell sends a report that differs from the last one.
func (w *worker) tell(answer *subsetsv1.Subset, outcome subsetsv1.DeliveryOutcome, detail string) (news bool) {
	now := told{outcome, answer.GetRevision(), detail}
	if now == w.told {
		return false
	}
	w.told = now
	w.Tell(&subsetsv1.Delivery{Key: w.Key, Outcome: outcome, Revision: answer.GetRevision(), Detail: detail})
	return true
}

// say writes a log entry that differs from the last one.
func (w *worker) say(level slog.Level, what told, text string, words ...any) {
	if what == w.logged {
		return
	}
	w.logged = what
	if level == slog.LevelWarn {
		words = append(words, "error", what.detail)
	}
	w.Log.Log(context.Background(), level, text, append([]any{"subset", w.Name}, words...)...)
}
