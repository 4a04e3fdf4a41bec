package loop

import (
	"context"
	"time"

	"sluice.dev/actuators/internal/audit"
	"sluice.dev/actuators/internal/disk"
	"sluice.dev/actuators/internal/policy"
	"sluice.dev/actuators/internal/pool"
	"sluice.dev/actuators/internal/realize"
	"sluice.dev/actuators/internal/state"
	"sluice.dev/actuators/internal/watch"
	poolsv1 "sluice.dev/api/pools/v1"
)

// worker is one target. What it has to remember is in the book, which outlives it.
type worker struct {
	*Loop
	Target
	// retold: what ended before this process began has been told again.
	retold   bool
	refused  refusal
	lastSaid said
	heard    heard
	owned    ownership
	used     used
}

// pass is the whole cycle for one target. ctx ends when the process is to stop, work a grace later.
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
			p.Decision = policy.Decision{Action: policy.Refuse, Code: policy.NoIntent, Text: "not written, since nobody would know of it after a crash: " + err.Error()}
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

// rules are the target's, the kill switch as it is now, and who has the target.
func (w *worker) rules(ctx context.Context) policy.Rules {
	rules := w.rulesHere()
	rules.Foreign = w.foreign(ctx, w.Target)
	return rules
}

// foreign says who else has the target, if anybody.
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

// rulesHere are those that nobody else has to be asked for.
func (w *worker) rulesHere() policy.Rules {
	rules := w.Rules
	rules.Stopped = w.Stopped != nil && w.Stopped()
	return rules
}

// recall is the target's record. The first time, what ended without being taken is told again.
func (w *worker) recall() state.Record {
	record, err := w.Book.Get(w.Name)
	if err != nil {
		w.Log.Error("the target's state is lost: its cool-down and original size begin anew", "target", w.Name, "error", err)
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

// store is for what is only good to know: that it could not be stored is said, and changes nothing else.
func (w *worker) store(change func(state.Record) state.Record) {
	if err := w.Book.Update(w.Name, change); err != nil {
		w.Log.Warn("the target's state could not be stored", "target", w.Name, "error", err)
	}
}

// tell reports how a write ended, until the recommender took it.
func (w *worker) tell(ended state.Ended) *poolsv1.Actuation {
	report := ended.Wire()
	w.complete(report, ended.Revision, ended.Done)
	w.heard.forget()
	w.Reporter.Report(audit.Report{Actuation: report, ID: ended.ID, Done: func(err error) {
		w.answered(err)
		w.store(func(r state.Record) state.Record { return r.Told(ended.ID) }) // else it is told again, under the same id
	}})
	return report
}

// refusal is what makes one refusal another than the one before.
type refusal struct {
	code   policy.Code
	target uint32
}

// refuse sends a NACK once; as long as the ground is the same, the target is only observed.
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
