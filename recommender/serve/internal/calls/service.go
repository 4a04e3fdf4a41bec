// Package calls implements PoolSizeService, SubsetService and TuningService from the records of the journal.
package calls

import (
	"context"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/access"
	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/table"
	"sluice.dev/serve/internal/topics"
	"sluice.dev/serve/internal/watch"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Store writes the reports of callers, and reads explanations.
type Store interface {
	Observed(ctx context.Context, shard int32, pool keys.Pool, instance string, size *poolsv1.ObservedSize) error
	Report(ctx context.Context, key string, report proto.Message, shards ...int32) error
	Ends(ctx context.Context) ([]int64, error)
	NewestPause(ctx context.Context, shard int32, pool keys.Pool, since time.Time) (*poolsv1.Pause, error)
	Fetch(ctx context.Context, key string, at topics.Place, into proto.Message) error
}

// Service is PoolSizeService. It holds only records of the journal.
type Service struct {
	poolsv1.UnimplementedPoolSizeServiceServer
	store   Store
	history History
	// readProblem returns the reason why there is no reading yet.
	readProblem func() string
	reading     atomic.Pointer[topics.Reading]
	stopping    chan struct{}
	watchers    atomic.Int64
}

// New is a service without a reading: calls return UNAVAILABLE until Serve.
func New(store Store, history History, readProblem func() string) *Service {
	return &Service{store: store, history: history, readProblem: readProblem, stopping: make(chan struct{})}
}

// Serve sets the reading that calls are answered from. Watches of the earlier reading end.
func (s *Service) Serve(reading topics.Reading) {
	if previous := s.reading.Swap(&reading); previous != nil {
		previous.Tables.Close()
	}
}

// Stop ends every watch.
func (s *Service) Stop() {
	close(s.stopping)
	if tables := s.Tables(); tables != nil {
		tables.Tick()
	}
}

// Watchers is the number of open watches.
func (s *Service) Watchers() int64 { return s.watchers.Load() }

// Tables are the records that calls are answered from; nil before the first reading.
func (s *Service) Tables() *table.Tables {
	if reading := s.reading.Load(); reading != nil {
		return reading.Tables
	}
	return nil
}

func (s *Service) read() (*topics.Reading, error) {
	if reading := s.reading.Load(); reading != nil {
		return reading, nil
	}
	return nil, problem.Unavailable(problem.NotReadYet, s.readProblem())
}

type poolView = table.View[keys.Pool, *poolsv1.PoolSize]

// entry is the newest decision for the pool of a request.
func (s *Service) entry(pool *poolsv1.Pool, field string) (*table.Pool, *poolView, *topics.Reading, error) {
	key, err := problem.Pool(pool, field)
	if err != nil {
		return nil, nil, nil, err
	}
	reading, err := s.read()
	if err != nil {
		return nil, nil, nil, err
	}
	e, view := reading.Tables.Pools.Get(key)
	if e == nil {
		return nil, nil, nil, problem.New(codes.NotFound, problem.PoolUnknown, "pool "+key.String()+" is neither in the configuration nor found from spans", "pool", key.String())
	}
	return e, view, reading, nil
}

// leasedDecision is the decision of an entry at now, with its lease; STALE after the lease.
func leasedDecision(e *table.Pool, view *poolView, now time.Time) *poolsv1.PoolSize {
	size := proto.CloneOf(e.Publication)
	lease := view.Shards[e.Shard].Lease
	until, left := lease.For(e.Key, now)
	size.ComputedAt = lease.Computed(e)
	size.ValidUntil, size.LeaseLeft = timestamppb.New(until), durationpb.New(left)
	if left == 0 {
		size.State, size.Action = poolsv1.State_STATE_STALE, commonv1.Action_ACTION_HOLD
	}
	return size
}

// GetPoolSize implements the service.
func (s *Service) GetPoolSize(_ context.Context, request *poolsv1.GetPoolSizeRequest) (*poolsv1.GetPoolSizeResponse, error) {
	e, view, _, err := s.entry(request.GetPool(), "pool")
	if err != nil {
		return nil, err
	}
	return &poolsv1.GetPoolSizeResponse{PoolSize: leasedDecision(e, view, time.Now())}, nil
}

// WatchPoolSizes implements the service.
func (s *Service) WatchPoolSizes(request *poolsv1.WatchPoolSizesRequest, stream poolsv1.PoolSizeService_WatchPoolSizesServer) error {
	filter, err := watch.PoolFilter(request)
	if err != nil {
		return err
	}
	return runWatch(s, request.GetResumeToken(), stream, func(reading *topics.Reading) watch.Watch[keys.Pool, *poolsv1.PoolSize] {
		return watch.Watch[keys.Pool, *poolsv1.PoolSize]{Table: reading.Tables.Pools, Filter: filter, Encoder: watch.PoolEncoder}
	})
}

// runWatch runs the watch that newWatch returns, from a resume token on, until its caller is gone.
func runWatch[K table.Key[K], V any](s *Service, resume string, stream grpc.ServerStream, newWatch func(*topics.Reading) watch.Watch[K, V]) error {
	token, err := watch.ParseToken(resume)
	if err != nil {
		return err
	}
	reading, err := s.read()
	if err != nil {
		return err
	}
	s.watchers.Add(1)
	defer s.watchers.Add(-1)
	w := newWatch(reading)
	w.End, w.Stopping = s.store.Ends, s.stopping
	w.Send = func(frame *watch.Frame) error { return stream.SendMsg(frame) }
	return w.Run(stream.Context(), token)
}

// callerName is the caller's identity, or the name that the caller claims if callers are not authenticated.
func callerName(ctx context.Context, claimed string) string {
	if caller := access.From(ctx); caller.Name != "" {
		return caller.Name
	}
	return claimed
}
