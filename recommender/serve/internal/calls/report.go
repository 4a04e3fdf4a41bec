package calls

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/table"

	poolsv1 "sluice.dev/api/pools/v1"
)

// ReportActuation implements the service. It writes the size before the audit: a report that is sent again after half of it
// was stored has the same size, and is one row under its id.
func (s *Service) ReportActuation(ctx context.Context, request *poolsv1.ReportActuationRequest) (*poolsv1.ReportActuationResponse, error) {
	actuation := request.GetActuation()
	e, err := s.reported(actuation.GetPool(), "actuation.pool")
	if err != nil {
		return nil, err
	}
	if err := checkID(request.GetRequestId()); err != nil {
		return nil, err
	}
	if err := checkActuation(actuation, e.Publication.GetRevision()); err != nil {
		return nil, err
	}
	report := newReport(ctx, "", request.GetRequestId(), actuation, actuation.GetAt() != nil)
	report.Report = &poolsv1.Report_Actuation{Actuation: actuation}
	if owner := ownerOf(e.Publication, actuation); owner != "" {
		refusal := ownershipError(owner, e.Key, actuation)
		report.Report = &poolsv1.Report_Actuation{Actuation: refusalRow(actuation, refusal)}
		if err := s.report(ctx, e.Key.Record(), report, e.Shard); err != nil {
			return nil, err
		}
		return nil, refusal
	}
	if size := sizeInForce(actuation); size != nil {
		// A target is observed every few seconds: in the audit, observations would hide the writes.
		observationOnly := actuation.GetOutcome() == poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED
		if err := s.writeObservation(ctx, e, size, report, observationOnly); err != nil || observationOnly {
			return &poolsv1.ReportActuationResponse{}, err
		}
	}
	if err := s.report(ctx, e.Key.Record(), report, e.Shard); err != nil {
		return nil, err
	}
	return &poolsv1.ReportActuationResponse{}, nil
}

// reported is the entry of the pool of a report. A candidate that is no pool yet has one without a decision: the report of its
// size makes it a pool.
func (s *Service) reported(pool *poolsv1.Pool, field string) (*table.Pool, error) {
	e, _, _, unknown := s.entry(pool, field)
	if tables := s.Tables(); unknown != nil && tables != nil {
		key := keys.PoolOf(pool)
		if candidate, _ := tables.Candidates.Get(key); candidate != nil {
			return &table.Pool{Key: key, Shard: candidate.Shard}, nil
		}
	}
	return e, unknown
}

// writeObservation writes the size of a target. observationOnly: no report comes with it.
func (s *Service) writeObservation(ctx context.Context, e *table.Pool, size *poolsv1.TargetSize, report *poolsv1.Report, observationOnly bool) error {
	actuation := report.GetActuation()
	size.ReadAt, size.Occupancy = report.GetReceived(), actuation.GetOccupancy()
	observation := &poolsv1.ObservedSize{
		Pool: e.Key.Proto(), Size: size, TargetName: actuation.GetTargetName(), Actuator: actuation.GetActuator(),
		Written: actuation.GetOutcome() == poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED, By: report.GetBy(),
		Slo: actuation.GetSlo(), Recommends: actuation.GetRecommends(),
	}
	if !observationOnly {
		observation.RequestId = report.GetRequestId()
	}
	return s.write(ctx, func(ctx context.Context) error {
		return s.store.Observed(ctx, e.Shard, e.Key, size.GetInstance(), observation)
	})
}

// sizeInForce is the size after the report: the size read back; without one, the previous size if nothing was written. Nil:
// unknown.
func sizeInForce(a *poolsv1.Actuation) *poolsv1.TargetSize {
	size := &poolsv1.TargetSize{Instance: instanceOf(a), Reporter: a.GetReporter()}
	switch {
	case a.ReadBack != nil:
		size.Size = a.ReadBack
	case a.GetUnbounded():
		size.Unbounded = true
	case a.Previous != nil && (a.GetOutcome() == poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED ||
		a.GetOutcome() == poolsv1.ActuationOutcome_ACTUATION_OUTCOME_REFUSED):
		size.Size = a.Previous
	default:
		return nil
	}
	return size
}

// requestID identifies a report that the same caller sends again: by the given id, or by the content if that has a time.
func requestID(given, caller string, content proto.Message, hasTime bool) string {
	if given != "" {
		return given
	}
	if !hasTime {
		return rand.Text()
	}
	bytes, _ := proto.MarshalOptions{Deterministic: true}.Marshal(content)
	sum := sha256.Sum256(append([]byte(caller+"\n"), bytes...))
	return hex.EncodeToString(sum[:16])
}

func (s *Service) report(ctx context.Context, key string, report proto.Message, shards ...int32) error {
	return s.write(ctx, func(ctx context.Context) error { return s.store.Report(ctx, key, report, shards...) })
}

// write bounds how long the caller waits for the journal.
func (s *Service) write(ctx context.Context, put func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, logPatience)
	defer cancel()
	err := put(within)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return problem.New(codes.Unavailable, problem.NotStored, "the journal did not confirm the record in time: it may still be stored; try again")
}

// newReport has the fields that all reports have in common. reporter is the name that the caller gives, which counts if callers
// are not authenticated; id, content and hasTime are as in requestID.
func newReport(ctx context.Context, reporter, id string, content proto.Message, hasTime bool) *poolsv1.Report {
	caller := callerName(ctx, reporter)
	return &poolsv1.Report{RequestId: requestID(id, caller, content, hasTime), Received: timestamppb.Now(), By: caller}
}
