package pools

import (
	"context"
	"time"

	"sluice.dev/actuators/internal/disk"
	"sluice.dev/actuators/internal/pools/audit"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/realize"
	"sluice.dev/actuators/internal/pools/state"
	"sluice.dev/actuators/internal/pools/watch"
	poolsv1 "sluice.dev/api/pools/v1"
)

// worker handles one target. Its state is in the book, which outlives it.
type worker struct {
	*Loop
	Target
	// retold: reports that an earlier process left were sent again.
	retold   bool
	refused  refusal
	lastSaid said
	heard    heard
	owned    ownership
	used     used
}

// pass is the whole cycle for one target. ctx ends when the process has to stop, work a grace later.
func (w *worker) pass(ctx, work context.Context, answers watch.Snapshot) Pass {
	p := Pass{Target: w.Name, At: time.Now(), Answer: answers.Answer(w.Pool)}
	record := w.recall()
	if record.Intent != nil {
		ended, err := w.resolve(work, *record.Intent)
		if err != nil {
			p.ReadErr = err
			return w.conclude(ctx, p)
		}
		w.conclude(ctx, Pass{
			Target: w.Name, At: p.At, Answer: p.Answer, Current: ended.Previous, Report: ended.Wire(),
			Decision: policy.Decision{Action: policy.Apply, Code: policy.Resolved, Size: ended.Size, Text: ended.Detail},
		})
	}
	current, use, err := realize.Look(ctx, w.Realizer)
	if err != nil {
		p.ReadErr = err
		return w.conclude(ctx, p)
	}
	p.Current, p.Use = current, use
	w.used.add(current, use)
	writes := w.seen(current)
	replica := policy.Replica{Instance: w.Instance, Size: current, Writes: writes, Known: record.Known()}
	p.Decision = policy.Decide(w.rules(work), p.Answer, replica, time.Now())
	if p.Decision.Action == policy.Apply {
		intent := w.intent(p.Decision.Size, current, p.Answer.GetRevision())
		if err := w.begin(intent); err != nil {
			p.Decision = policy.Decision{Action: policy.Refuse, Code: policy.NoIntent, Text: "not written, because its intent could not be stored: " + err.Error()}
		} else {
			w.refused = refusal{}
			ended := w.write(work, intent)
			p.Report = w.tell(ended)
			if ended.ReadBack != (pool.Size{}) {
				w.heard.took(ended.ReadBack, nil)
			}
			return w.conclude(ctx, p)
		}
	}
	if p.Decision.Action == policy.Refuse {
		p.Report = w.refuse(p)
	} else {
		w.refused = refusal{}
		p.Report = w.observe(p)
	}
	w.complete(p.Report, p.Answer.GetRevision(), time.Now())
	w.told(p.Report, current)
	return w.conclude(ctx, p)
}

// look is a pass that only reads and decides, as if the target had opted in.
func (w *worker) look(ctx context.Context, answers watch.Snapshot) Pass {
	p := Pass{Target: w.Name, At: time.Now(), Answer: answers.Answer(w.Pool)}
	if p.Current, p.Use, p.ReadErr = realize.Look(ctx, w.Realizer); p.ReadErr != nil {
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
	rules.Foreign = w.foreign(ctx, w.Target)
	return rules
}

// foreign names another owner of the target, if any.
func (w *worker) foreign(ctx context.Context, target Target) string {
	if place, shared := target.Realizer.(disk.Claimer); shared && target.Rules.Apply {
		if err := place.Claim(w.Holder); err != nil {
			return err.Error()
		}
	}
	if target.Rules.Apply {
		if owner := w.elsewhere(); owner != "" {
			return owner
		}
	}
	if w.Owner == nil {
		return ""
	}
	if err := w.Owner.Claim(ctx, target); err != nil {
		return err.Error()
	}
	return ""
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
	if !w.retold {
		w.retold = true
		if writes := record.Writes.From(time.Now()); writes != record.Writes {
			w.Log.Warn("the clock was set back since the last write", "target", w.Name, "written_at", record.Writes.At)
			w.store(func(r state.Record) state.Record { r.Writes = writes; return r })
		}
		for _, each := range record.Ended {
			w.tell(each)
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

// tell reports how a write ended, until the recommender takes the report.
func (w *worker) tell(ended state.Ended) *poolsv1.Actuation {
	report := ended.Wire()
	w.complete(report, ended.Revision, ended.Done)
	w.heard.forget()
	w.Reporter.Report(audit.Report{Actuation: report, ID: ended.ID, Done: func(err error) {
		w.answered(err)
		w.store(func(r state.Record) state.Record { return r.Told(ended.ID) }) // else it is sent again, under the same id
	}})
	return report
}

// refusal has the fields by which two refusals differ.
type refusal struct {
	code   policy.Code
	target uint32
}

// refuse sends a NACK once; while the ground stays the same, the target is only observed.
func (w *worker) refuse(p Pass) *poolsv1.Actuation {
	report := w.observe(p)
	now := refusal{p.Decision.Code, p.Answer.GetTarget()}
	if now != w.refused {
		report.Outcome = poolsv1.ActuationOutcome_ACTUATION_OUTCOME_REFUSED
		report.Requested = p.Answer.Target
		report.Previous = p.Current.Wire()
	}
	w.refused = now
	return report
}

func (w *worker) observe(p Pass) *poolsv1.Actuation {
	return &poolsv1.Actuation{
		Outcome:  poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED,
		ReadBack: p.Current.Wire(), Unbounded: p.Current.Unbounded, Detail: p.Decision.Text,
	}
}
