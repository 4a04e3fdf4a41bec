package calls

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/table"
	"sluice.dev/serve/internal/topics"

	poolsv1 "sluice.dev/api/pools/v1"
)

// PausePool implements the service.
func (s *Service) PausePool(ctx context.Context, request *poolsv1.PausePoolRequest) (*poolsv1.PausePoolResponse, error) {
	if size := request.Size; size != nil && (*size < 1 || *size > mostSize) {
		return nil, problem.NotLegal("size", *size, fmt.Sprintf("1 to %d, or absent", mostSize))
	}
	report, e, _, err := s.pauseReport(ctx, request, true, request.Size)
	if err != nil {
		return nil, err
	}
	if err := s.report(ctx, e.Key.Record(), report, e.Shard); err != nil {
		return nil, err
	}
	return &poolsv1.PausePoolResponse{}, nil
}

// ResumePool implements the service. It always writes to the journal: a pause may be on its way to the decider.
func (s *Service) ResumePool(ctx context.Context, request *poolsv1.ResumePoolRequest) (*poolsv1.ResumePoolResponse, error) {
	report, e, view, err := s.pauseReport(ctx, request, false, nil)
	if err != nil {
		return nil, err
	}
	wasPaused := s.isPaused(ctx, e, view)
	if err := s.report(ctx, e.Key.Record(), report, e.Shard); err != nil {
		return nil, err
	}
	return &poolsv1.ResumePoolResponse{WasPaused: wasPaused}, nil
}

// readLag is how long before a decision a report may come that the decision does not know yet.
const readLag = 10 * time.Second

// isPaused is true if the pool is paused: by its newest decision, and by the reports that came since. A decider that starts has
// reports to read before it decides.
func (s *Service) isPaused(ctx context.Context, e *table.Pool, view *poolView) bool {
	within, cancel := context.WithTimeout(ctx, logPatience)
	defer cancel()
	since := view.Shards[e.Shard].Lease.Computed(e).AsTime().Add(-readLag)
	newest, err := s.store.NewestPause(within, e.Shard, e.Key, since)
	if err != nil || newest == nil {
		return e.Publication.GetState() == poolsv1.State_STATE_PAUSED
	}
	return newest.GetPaused()
}

// pauseRequest is an operator's request to pause or to resume a pool.
type pauseRequest interface {
	GetPool() *poolsv1.Pool
	GetBy() string
	GetWhy() string
	GetRequestId() string
}

// pauseReport is the report of a legal request, with its pool.
func (s *Service) pauseReport(
	ctx context.Context, request pauseRequest, paused bool, size *uint32,
) (*poolsv1.Report, *table.Pool, *poolView, error) {
	e, view, _, err := s.entry(request.GetPool(), "pool")
	if err != nil {
		return nil, nil, nil, err
	}
	report := newReport(ctx, request.GetBy(), request.GetRequestId(), nil, false)
	if err := firstOf(
		checkName("by", report.GetBy(), "the operator's name", true),
		checkText("why", request.GetWhy(), mostWhy),
		checkID(request.GetRequestId()),
	); err != nil {
		return nil, nil, nil, err
	}
	pause := &poolsv1.Pause{Pool: e.Key.Proto(), Paused: paused, Why: request.GetWhy(), Size: size}
	report.Report = &poolsv1.Report_Pause{Pause: pause}
	return report, e, view, nil
}

// NotifyScaling implements the service.
func (s *Service) NotifyScaling(ctx context.Context, request *poolsv1.NotifyScalingRequest) (*poolsv1.NotifyScalingResponse, error) {
	reading, err := s.read()
	if err != nil {
		return nil, err
	}
	if request.GetScalingEvent() == nil {
		return nil, problem.Empty("scaling_event", "the change")
	}
	event := proto.CloneOf(request.GetScalingEvent())
	if err := checkScaling(event); err != nil {
		return nil, err
	}
	if err := checkID(request.GetRequestId()); err != nil {
		return nil, err
	}
	report := newReport(ctx, event.GetSource(), request.GetRequestId(), event, event.GetAt() != nil)
	if event.GetAt() == nil || event.GetAt().AsTime().After(report.GetReceived().AsTime()) {
		event.At = timestamppb.New(report.GetReceived().AsTime())
	}
	report.Report = &poolsv1.Report_Scaling{Scaling: event}
	shards, pools := affectedShards(reading, event.GetService())
	if len(shards) == 0 { // for the audit, and for pools of any group that may come later: the event is not sent again
		for shard := range reading.Tables.Pools.View().Shards {
			shards = append(shards, int32(shard))
		}
	}
	if err := s.report(ctx, keys.Service(event.GetService()), report, shards...); err != nil {
		return nil, err
	}
	return &poolsv1.NotifyScalingResponse{Pools: uint32(pools)}, nil
}

// affectedShards are the shards with pools or subsets of a service, or towards it, and the number of such pools.
func affectedShards(reading *topics.Reading, service string) (shards []int32, pools int) {
	shards, pools = reading.Tables.Pools.ShardsWith(func(p keys.Pool) bool { return p.Service == service || p.Peer == service })
	subsetShards, _ := reading.Tables.Subsets.ShardsWith(func(s keys.Subset) bool { return s.Upstream == service || s.Downstream == service })
	shards = append(shards, subsetShards...)
	slices.Sort(shards)
	return slices.Compact(shards), pools
}
