package pools

import (
	"context"
	"errors"
	"time"

	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/state"
	"sluice.dev/actuators/internal/pools/watch"
	"sluice.dev/actuators/internal/reconcile"
	poolsv1 "sluice.dev/api/pools/v1"
)

// worker handles one target. Its state is in the book, which outlives it. It is a reconcile.Worker, and a
// reconcile.Product of passes.
type worker struct {
	*Loop
	Target
	// resent: the reports that an earlier process left were sent again.
	resent     bool
	refused    refusal
	entries    reconcile.Changes[logEntry]
	lastReport lastReport
	ownership  ownership
	occupancy  occupancy
}

func (w *worker) Pass(ctx, work context.Context) (superseded <-chan struct{}) {
	answers := w.Source.Latest()
	w.pass(ctx, work, answers)
	return answers.Superseded
}

func (w *worker) Leave(work context.Context, stopping bool) {
	if w.RestoreOnExit && w.Rules.Apply && !w.rulesHere().Stopped && stopping {
		if _, err := w.restore(work); err != nil && !errors.Is(err, errNothing) {
			w.Log.Error("cannot restore the original size", "target", w.Name, "error", err)
		}
	}
	reconcile.Release(w.Realizer)
}

// pass is the whole cycle. ctx ends when the process has to stop, work a grace later.
func (w *worker) pass(ctx, work context.Context, answers watch.Snapshot) Pass {
	p := &Pass{Target: w.Name, At: time.Now(), Answer: answers.Answer(w.Pool)}
	reconcile.Pass(ctx, work, w, p)
	return *p
}

func (w *worker) Resume(work context.Context, p *Pass) error {
	record := w.recall()
	p.known = record.Known()
	if record.Intent == nil {
		return nil
	}
	ended, err := w.resolve(work, *record.Intent)
	if err != nil {
		return err
	}
	w.Record(work, &Pass{
		Target: w.Name, At: p.At, Answer: p.Answer, Current: ended.Previous, Report: ended.Wire(),
		Decision: policy.Decision{Action: policy.Apply, Code: policy.Resolved, Size: ended.Size, Text: ended.Detail},
	}, nil)
	return nil
}

func (w *worker) Read(ctx context.Context, p *Pass) error {
	current, use, err := w.Realizer.Read(ctx)
	if err != nil {
		return err
	}
	p.Current, p.Use = current, use
	w.occupancy.add(current, use)
	return nil
}

func (w *worker) Decide(work context.Context, p *Pass) (write bool) {
	replica := policy.Replica{Instance: w.Instance, Size: p.Current, Writes: w.writesAt(p.Current), Known: p.known}
	p.Decision = policy.Decide(w.rules(work), p.Answer, replica, time.Now())
	return p.Decision.Action == policy.Apply
}

func (w *worker) Intend(p *Pass) (stored bool) {
	p.intent = w.intent(p.Decision.Size, p.Current, p.Answer.GetRevision())
	err := w.begin(p.intent)
	if err != nil {
		p.Decision = policy.Decision{Action: policy.Refuse, Code: policy.NoIntent, Text: "not written, because its intent could not be stored: " + err.Error()}
	}
	return err == nil
}

func (w *worker) Write(work context.Context, p *Pass) {
	ended := w.write(work, p.intent)
	p.ended = &ended
}

func (w *worker) Report(p *Pass) {
	switch {
	case p.ended != nil:
		w.refused = refusal{}
		p.Report = w.reportWrite(*p.ended)
		if p.ended.ReadBack != (pool.Size{}) {
			w.lastReport.record(p.ended.ReadBack, nil)
		}
		return
	case p.Decision.Action == policy.Refuse:
		p.Report = w.refusalOf(p)
	default:
		w.refused = refusal{}
		p.Report = w.observation(p)
	}
	w.complete(p.Report, p.Answer.GetRevision(), time.Now())
	w.reportReading(p.Report, p.Current)
}

// look is a pass that only reads and decides, as if the target had opted in.
func (w *worker) look(ctx context.Context, answers watch.Snapshot) Pass {
	p := Pass{Target: w.Name, At: time.Now(), Answer: answers.Answer(w.Pool)}
	if p.Current, p.Use, p.ReadErr = w.Realizer.Read(ctx); p.ReadErr != nil {
		return p
	}
	record, _ := w.Book.Get(w.Name)
	writes := record.Writes.Read(p.Current).Rest(p.Current, w.Rules.Cooldown, p.At)
	rules := w.rulesHere()
	rules.Apply = true
	replica := policy.Replica{Instance: w.Instance, Size: p.Current, Writes: writes, Known: record.Known()}
	p.Decision = policy.Decide(rules, p.Answer, replica, p.At)
	return p
}

// rules are the target's, with the present state of the kill switch and the owner.
func (w *worker) rules(ctx context.Context) policy.Rules {
	rules := w.rulesHere()
	rules.Foreign = reconcile.Text(w.foreign(ctx, w.Target))
	return rules
}

// foreign names another owner of the target, or says why the owner is not known; nil: this process may write.
func (w *worker) foreign(ctx context.Context, target Target) error {
	if target.Rules.Apply {
		if err := reconcile.Claim(target.Realizer, w.Holder); err != nil {
			return err
		}
		if err := w.otherReporter(); err != nil {
			return err
		}
	}
	if w.Owner == nil {
		return nil
	}
	return w.Owner.Claim(ctx, target)
}

// rulesHere are the rules that this process knows without a call.
func (w *worker) rulesHere() policy.Rules {
	rules := w.Rules
	rules.Stopped = w.Stopped != nil && w.Stopped()
	return rules
}

// recall returns the target's record. The first time, it sends again the reports that were not taken.
func (w *worker) recall() state.Record {
	record, err := w.Book.Get(w.Name)
	if err != nil {
		w.Log.Error("the target's state is lost: its cool-down and original size start over", "target", w.Name, "error", err)
	}
	if !w.resent {
		w.resent = true
		if writes := record.Writes.From(time.Now()); writes != record.Writes {
			w.Log.Warn("the clock was set back since the last write", "target", w.Name, "written_at", record.Writes.At)
			w.store(func(r state.Record) state.Record { r.Writes = writes; return r })
		}
		for _, ended := range record.Ended {
			w.reportWrite(ended)
		}
	}
	return record
}

// store changes the record. A failure is logged and changes nothing else, because the write does not depend on it.
func (w *worker) store(change func(state.Record) state.Record) {
	if err := w.Book.Update(w.Name, change); err != nil {
		w.Log.Warn("cannot store the target's state", "target", w.Name, "error", err)
	}
}

// refusal has the fields by which two refusals differ.
type refusal struct {
	code   policy.Code
	target uint32
}

// refusalOf is a NACK, once; while the ground stays the same, it is an observation.
func (w *worker) refusalOf(p *Pass) *poolsv1.Actuation {
	report := w.observation(p)
	now := refusal{p.Decision.Code, p.Answer.GetTarget()}
	if now != w.refused {
		report.Outcome = pool.ProtoOutcome(reconcile.Refused)
		report.Requested = p.Answer.Target
		report.Previous = p.Current.Wire()
	}
	w.refused = now
	return report
}

func (w *worker) observation(p *Pass) *poolsv1.Actuation {
	return &poolsv1.Actuation{
		Outcome:  pool.ProtoOutcome(reconcile.Observed),
		ReadBack: p.Current.Wire(), Unbounded: p.Current.Unbounded, Detail: p.Decision.Text,
	}
}
