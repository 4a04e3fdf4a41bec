package pools

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
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
}

// Failed is true when a person should look: the target could not be read, or a NACK was sent.
func (p Pass) Failed() bool {
	switch p.Report.GetOutcome() {
	case poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED, poolsv1.ActuationOutcome_ACTUATION_OUTCOME_REFUSED:
		return true
	default:
		return p.ReadErr != nil
	}
}

// RolledBack is true when the previous size is in force again: by a decision with the basis REVERT, or because an interrupted
// write was undone.
func (p Pass) RolledBack() bool {
	if p.Decision.Code == policy.Resolved {
		return p.Report.ReadBack != nil && pool.Of(p.Report.GetReadBack()) == p.Current
	}
	applied := p.Report.GetOutcome() == poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED
	return applied && p.Answer.GetBasis() == poolsv1.Basis_BASIS_REVERT
}

// complete sets the fields that every report has.
func (w *worker) complete(report *poolsv1.Actuation, revision uint64, at time.Time) {
	report.Pool = w.Pool.Proto()
	report.TargetName = w.Name
	report.Instance = w.Instance
	report.Actuator, report.Reporter = w.Actuator, w.identity()
	report.Revision = revision
	report.At = timestamppb.New(at)
}

// said is the last log entry of a target.
type said struct {
	unreadable bool
	action     policy.Action
	code       policy.Code
	size       uint32
}

// conclude passes the pass to the recorder, and to the log when it differs from the last entry.
func (w *worker) conclude(ctx context.Context, p Pass) Pass {
	if p.ReadErr != nil && ctx.Err() != nil {
		return p // the process is stopping; the target did nothing wrong
	}
	w.Recorder.Record(p)
	log := w.Log.With("target", w.Name, "pool", w.Pool.String())
	now := said{p.ReadErr != nil, p.Decision.Action, p.Decision.Code, p.Decision.Size}
	switch {
	case p.ReadErr != nil:
		if now != w.lastSaid {
			log.Warn("cannot read the target", "error", p.ReadErr)
		}
	case p.Decision.Action == policy.Apply && p.Failed():
		log.Warn("size not in force", "previous", p.Current.String(), "requested", p.Decision.Size, "detail", p.Report.GetDetail())
	case p.Decision.Action == policy.Apply:
		log.Info("size applied", "previous", p.Current.String(), "size", p.Decision.Size, "detail", p.Report.GetDetail())
	case now != w.lastSaid:
		log.Info(string(p.Decision.Action), "code", p.Decision.Code, "current", p.Current.String(), "detail", p.Decision.Text)
	}
	w.lastSaid = now
	return p
}
