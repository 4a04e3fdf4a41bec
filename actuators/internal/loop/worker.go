package loop

import (
	"context"
	"fmt"
	"time"

	"sluice.dev/actuators/internal/policy"
	"sluice.dev/actuators/internal/pool"
	"sluice.dev/actuators/internal/realize"
	"sluice.dev/actuators/internal/watch"
	poolsv1 "sluice.dev/api/pools/v1"
)

// worker is one target and what this process remembers of it.
type worker struct {
	*Loop
	Target
	writes   policy.Writes
	refused  refusal
	lastSaid said
}

// pass is the whole cycle for one target. ctx ends when the process is to stop, work a grace later.
func (w *worker) pass(ctx, work context.Context, answers watch.Snapshot) Pass {
	p := Pass{Target: w.Name, At: time.Now(), Answer: answers.Answer(w.Pool)}

	current, err := w.Realizer.Read(ctx)
	if err != nil {
		p.ReadErr = err
		return w.conclude(ctx, p)
	}
	p.Current = current
	w.writes = w.writes.Read(current)
	p.Decision = policy.Decide(w.Rules, p.Answer, policy.Replica{Instance: w.Instance, Size: current, Writes: w.writes}, time.Now())
	switch p.Decision.Action {
	case policy.Apply:
		p.Report = w.apply(work, p.Decision.Size, current)
	case policy.Refuse:
		p.Report = w.refuse(p)
	default:
		w.refused = refusal{}
		p.Report = w.observe(p)
	}
	w.complete(&p)
	w.Reporter.Report(p.Report)
	return w.conclude(ctx, p)
}

// apply writes size and waits until it is in force, or until it has had its time.
func (w *worker) apply(ctx context.Context, size uint32, previous pool.Size) *poolsv1.Actuation {
	began := time.Now()
	w.writes = w.writes.Next(size, began)
	w.refused = refusal{}
	report := &poolsv1.Actuation{
		Outcome: poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED, Requested: &size, Previous: previous.Wire(),
	}
	writeErr := w.Realizer.Write(ctx, size)
	settle := w.Settle
	if writeErr != nil {
		settle = 0 // one look is enough: a write that failed may still have been taken
	}
	readBack, readErr := realize.ReadBack(ctx, w.Realizer, size, settle)
	if readErr == nil {
		w.writes = w.writes.Read(readBack)
		report.ReadBack, report.Unbounded = readBack.Wire(), readBack.Unbounded
	}
	switch took := time.Since(began).Round(time.Millisecond); {
	case writeErr != nil:
		report.Detail = writeErr.Error()
	case readErr != nil:
		report.Detail = "read back: " + readErr.Error()
	case readBack != pool.Of(size):
		report.Detail = fmt.Sprintf("read back %s after %s, want %d", readBack, took, size)
	default:
		report.Outcome = poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED
		report.Detail = fmt.Sprintf("in force after %s", took)
	}
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
