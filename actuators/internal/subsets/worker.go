package subsets

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"sluice.dev/actuators/internal/reconcile"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// worker handles one target. It needs no state but the set in force, which outlives it. It is a reconcile.Worker, and a
// reconcile.Product of passes.
type worker struct {
	*Loop
	Target
	writes  Writes
	reports reconcile.Changes[entry]
	entries reconcile.Changes[entry]
	counts  map[reconcile.Outcome]uint64
}

func (l *Loop) worker(target Target) *worker {
	return &worker{Loop: l, Target: target, counts: map[reconcile.Outcome]uint64{}}
}

// pass is one cycle at one target: reading, decision, result.
type pass struct {
	at       time.Time
	answer   *subsetsv1.Subset
	inForce  Set
	decision Decision
	// err: the set in force could not be read, or was not written where it should have been.
	err    error
	status Status
}

func (w *worker) Pass(ctx, work context.Context) (superseded <-chan struct{}) {
	latest := w.Latest()
	w.pass(ctx, work, latest.Answers[w.Key.GetDownstream()])
	return latest.Superseded
}

func (w *worker) Leave(work context.Context, _ bool) {
	if w.RemoveOnExit && w.Rules.Apply && !w.stopped() {
		if err := w.Loop.Remove(work, w.Target); err != nil {
			w.Log.Error("cannot remove the subset", "subset", w.Name, "error", err)
		} else {
			w.Log.Info("subset removed", "subset", w.Name)
		}
	}
	reconcile.Release(w.Realizer)
}

// pass is the whole cycle. ctx ends when the process has to stop, work a grace later.
func (w *worker) pass(ctx, work context.Context, answer *subsetsv1.Subset) *pass {
	p := &pass{at: time.Now(), answer: answer}
	reconcile.Pass(ctx, work, w, p)
	return p
}

// Resume implements reconcile.Product: the next write replaces the whole set, so nothing is left of an interrupted one.
func (w *worker) Resume(context.Context, *pass) error { return nil }

func (w *worker) Read(ctx context.Context, p *pass) (err error) {
	p.inForce, err = w.Realizer.Read(ctx)
	return err
}

func (w *worker) Decide(work context.Context, p *pass) (write bool) {
	w.writes = w.writes.Rest(p.inForce, w.Rules.Cooldown, p.at)
	rules := w.rules()
	rules.Foreign = reconcile.Text(w.foreign(work))
	p.decision = Decide(rules, p.answer, p.inForce, w.writes, p.at)
	return p.decision.Action == Write
}

// Intend implements reconcile.Product: the history of writes ends with the process.
func (w *worker) Intend(p *pass) (stored bool) {
	w.writes = w.writes.Next(p.decision.Set, time.Now())
	return true
}

func (w *worker) Write(work context.Context, p *pass) {
	set := p.decision.Set
	written := reconcile.Write[Set]{
		Write: func(ctx context.Context) error { return w.Realizer.Write(ctx, set) },
		Read:  w.Realizer.Read, Reached: set.Equal, Settle: w.Settle,
	}.Put(work)
	if written.Read == nil {
		p.inForce = written.Value
	}
	switch {
	case written.Write != nil:
		p.err = written.Write
	case written.Read != nil:
		p.err = written.Read
	case !p.inForce.Equal(set):
		p.err = errors.New("read back " + p.inForce.String() + ", want " + set.String())
	}
}

func (w *worker) Report(p *pass) {
	switch {
	case p.decision.Action == Write && p.err != nil:
		w.counts[reconcile.Failed]++
		p.decision.Text = p.err.Error()
		w.report(p, reconcile.Failed, p.err.Error())
	case p.decision.Action == Write:
		w.counts[reconcile.Applied]++
		w.report(p, reconcile.Applied, p.without())
	case p.decision.Action == Refuse && w.Rules.Apply:
		if w.report(p, reconcile.Refused, p.decision.Text) {
			w.counts[reconcile.Refused]++
		}
		p.err = errors.New(p.decision.Text)
	case p.decision.Code == InForce && w.Rules.Apply:
		// Also where this process did not write it: an earlier process may have ended between its write and its report.
		w.report(p, reconcile.Applied, p.without())
	}
}

// without names the endpoints that are left out of the set, and why.
func (p *pass) without() string { return strings.Join(p.decision.Notes, "; ") }

func (w *worker) Record(ctx context.Context, p *pass, err error) {
	revision := p.answer.GetRevision()
	switch {
	case err != nil:
		p.err = err
		if ctx.Err() == nil {
			w.log(slog.LevelWarn, entry{detail: err.Error()}, "cannot read the subset in force", "error", err)
		}
		w.show(p, Status{Error: err.Error()})
		return
	case p.decision.Action == Write && p.err != nil:
		w.log(slog.LevelWarn, entry{revision: revision, detail: p.err.Error()}, "subset not in force", "error", p.err)
	case p.decision.Action == Write:
		w.Log.Info("subset applied", "subset", w.Name, "revision", revision, "members", len(p.inForce), "difference", p.decision.Text)
	default:
		w.log(slog.LevelInfo, entry{revision: revision, detail: string(p.decision.Code)}, string(p.decision.Action),
			"code", p.decision.Code, "detail", p.decision.Text)
	}
	w.show(p, Status{
		Members: p.inForce.String(), Wanted: p.decision.Set.String(),
		Code: string(p.decision.Code), Text: p.decision.Text, Without: p.without(),
	})
}

// log writes an entry that differs from the last one.
func (w *worker) log(level slog.Level, what entry, text string, attributes ...any) {
	if w.entries.New(what) {
		w.Log.Log(context.Background(), level, text, append([]any{"subset", w.Name}, attributes...)...)
	}
}

func (w *worker) stopped() bool { return w.Stopped != nil && w.Stopped() }

// rules are the target's, with the present state of the kill switch.
func (w *worker) rules() Rules {
	rules := w.Rules
	rules.Stopped = w.stopped()
	return rules
}

// foreign names another owner of the target, or says why the owner is not known; nil: this process may write.
func (w *worker) foreign(ctx context.Context) error {
	if w.Rules.Apply {
		if err := reconcile.Claim(w.Realizer, w.Holder); err != nil {
			return err
		}
	}
	if w.Owner == nil {
		return nil
	}
	return w.Owner(ctx, w.Target)
}
