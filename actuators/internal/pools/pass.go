package pools

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/state"
	"sluice.dev/actuators/internal/reconcile"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Pass is one cycle at one target: reading, decision, result.
type Pass struct {
	Target string
	At     time.Time
	// Current is the size before, as read. It is none when ReadErr is set; then all fields below Answer are empty, too.
	Current pool.Size
	// Use is the occupancy that was read with it.
	Use     pool.Use
	ReadErr error
	// Answer is the recommender's decision; nil when there is none.
	Answer   *poolsv1.PoolSize
	Decision policy.Decision
	// Report goes to the recommender.
	Report *poolsv1.Actuation

	// known are sizes that were in force here before earlier writes.
	known  []uint32
	intent state.Intent
	// ended is the end of this pass's write; nil without one.
	ended *state.Ended
}

// Outcome is that of the report; empty without a report.
func (p Pass) Outcome() reconcile.Outcome { return pool.OutcomeOf(p.Report.GetOutcome()) }

// Failed is true when a person should look: the target could not be read, or a NACK was sent.
func (p Pass) Failed() bool {
	outcome := p.Outcome()
	return p.ReadErr != nil || outcome == reconcile.Failed || outcome == reconcile.Refused
}

// RolledBack is true when the previous size is in force again: by a decision with the basis REVERT, or because an interrupted
// write was undone.
func (p Pass) RolledBack() bool {
	if p.Decision.Code == policy.Resolved {
		return p.Report.ReadBack != nil && pool.Of(p.Report.GetReadBack()) == p.Current
	}
	return p.Outcome() == reconcile.Applied && p.Answer.GetBasis() == poolsv1.Basis_BASIS_REVERT
}

// complete sets the fields that every report has.
func (w *worker) complete(report *poolsv1.Actuation, revision uint64, at time.Time) {
	report.Pool = w.Pool.Proto()
	report.TargetName = w.Name
	report.Instance = w.Instance
	report.Actuator, report.Reporter, report.Recommends = w.Actuator, w.identity(), !w.Rules.Apply
	report.Revision = revision
	report.At = timestamppb.New(at)
	if w.SLO > 0 {
		report.Slo = durationpb.New(w.SLO)
	}
}

// logEntry has the fields by which two log entries of a target differ.
type logEntry struct {
	unreadable bool
	action     policy.Action
	code       policy.Code
	size       uint32
}

// Record implements reconcile.Product: it passes the pass to the recorder, and to the log when it differs from the last entry.
func (w *worker) Record(ctx context.Context, p *Pass, err error) {
	if p.ReadErr = err; err != nil && ctx.Err() != nil {
		return // the process is stopping; the target did nothing wrong
	}
	w.Recorder.Record(*p)
	log := w.Log.With("target", w.Name, "pool", w.Pool.String())
	news := w.entries.New(logEntry{err != nil, p.Decision.Action, p.Decision.Code, p.Decision.Size})
	switch {
	case err != nil:
		if news {
			log.Warn("cannot read the target", "error", err)
		}
	case p.Decision.Action == policy.Apply && p.Failed():
		log.Warn("size not in force", "previous", p.Current.String(), "requested", p.Decision.Size, "detail", p.Report.GetDetail())
	case p.Decision.Action == policy.Apply:
		log.Info("size applied", "previous", p.Current.String(), "size", p.Decision.Size, "detail", p.Report.GetDetail())
	case news:
		log.Info(string(p.Decision.Action), "code", p.Decision.Code, "current", p.Current.String(), "detail", p.Decision.Text)
	}
}
