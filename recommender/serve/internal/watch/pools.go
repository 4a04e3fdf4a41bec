package watch

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/table"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Limits of the names in one watch of pools.
const (
	MostServices = 100
	MostPools    = 1000
)

// PoolFilter is the filter of a request.
func PoolFilter(request *poolsv1.WatchPoolSizesRequest) (*Filter[keys.Pool], error) {
	services, err := servicesOf(request)
	if err != nil {
		return nil, err
	}
	pools, err := poolsOf(request)
	if err != nil {
		return nil, err
	}
	if len(services)+len(pools) == 0 {
		return &Filter[keys.Pool]{}, nil
	}
	groups := slices.Clone(services)
	for _, pool := range pools {
		groups = append(groups, pool.Service)
	}
	slices.Sort(groups)
	selects := func(pool keys.Pool) bool {
		if _, ok := slices.BinarySearch(services, pool.Service); ok {
			return true
		}
		_, ok := slices.BinarySearchFunc(pools, pool, keys.Pool.Compare)
		return ok
	}
	var lines []string
	for _, service := range services {
		lines = append(lines, strconv.Quote(service))
	}
	for _, pool := range pools {
		lines = append(lines, strconv.Quote(pool.Record()))
	}
	return &Filter[keys.Pool]{
		ID: id(lines...), fullGroups: services, singles: pools, groups: slices.Compact(groups), selects: selects,
	}, nil
}

// servicesOf are the services that a request names, ordered, each once.
func servicesOf(request *poolsv1.WatchPoolSizesRequest) (names []string, err error) {
	if n := len(request.GetServices()); n > MostServices {
		return nil, problem.Conflict("services", fmt.Sprintf("has %d names", n), fmt.Sprintf("at most %d", MostServices))
	}
	if request.GetService() != "" {
		names = append(names, request.GetService())
	}
	for i, name := range request.GetServices() {
		if name == "" {
			return nil, problem.Empty(fmt.Sprintf("services[%d]", i), "a service name")
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// poolsOf are the pools that a request names, ordered, each once.
func poolsOf(request *poolsv1.WatchPoolSizesRequest) (pools []keys.Pool, err error) {
	if n := len(request.GetPools()); n > MostPools {
		return nil, problem.Conflict("pools", fmt.Sprintf("has %d pools", n), fmt.Sprintf("at most %d", MostPools))
	}
	for i, requested := range request.GetPools() {
		pool, err := problem.Pool(requested, fmt.Sprintf("pools[%d]", i))
		if err != nil {
			return nil, err
		}
		pools = append(pools, pool)
	}
	slices.SortFunc(pools, keys.Pool.Compare)
	return slices.Compact(pools), nil
}

// PoolEncoder encodes the events of WatchPoolSizes.
var PoolEncoder = Encoder[keys.Pool, *poolsv1.PoolSize]{publication: encodePool, snapshot: encodePoolSnapshot, heartbeat: encodePoolHeartbeat}

// encodePool encodes an entry with the lease of its first encoding under the shard's heartbeat: the heartbeat that follows
// has the rest of the lease.
func encodePool(e *table.Pool, lease *table.Lease) *Frame {
	return e.Derived(lease, func() any {
		size := proto.CloneOf(e.Publication)
		if !e.Deleted && lease != nil {
			until, _ := lease.For(e.Key, time.Now())
			size.ComputedAt, size.ValidUntil = lease.Computed(e), timestamppb.New(until)
		}
		return encode(&poolsv1.WatchPoolSizesResponse{
			Event: &poolsv1.WatchPoolSizesResponse_PoolSize{PoolSize: size},
		})
	}).(*Frame)
}

func encodePoolSnapshot(snapshot *commonv1.Snapshot, token string) *Frame {
	return encode(&poolsv1.WatchPoolSizesResponse{
		Event: &poolsv1.WatchPoolSizesResponse_Snapshot{Snapshot: snapshot}, ResumeToken: token,
	})
}

// encodePoolHeartbeat renews the leases of the decisions of shards.
func encodePoolHeartbeat(shards []poolShard, filter *Filter[keys.Pool], token string, now time.Time) *Frame {
	beat := &commonv1.Heartbeat{}
	event := &poolsv1.WatchPoolSizesResponse{
		Event: &poolsv1.WatchPoolSizesResponse_Heartbeat{Heartbeat: beat}, ResumeToken: token,
	}
	var newest, first time.Time
	for _, shard := range shards {
		lease := shard.Lease
		if lease == nil {
			continue
		}
		if lease.ComputedAt.After(newest) {
			newest = lease.ComputedAt
		}
		if first.IsZero() || lease.Until.Before(first) {
			first = lease.Until
		}
		beat.Shards = append(beat.Shards, &commonv1.ShardLease{
			Shard:      uint32(shard.Number),
			ComputedAt: timestamppb.New(lease.ComputedAt),
			ValidUntil: timestamppb.New(lease.Until),
			LeaseLeft:  durationpb.New(lease.Left(now)),
		})
		event.NotRenewed = append(event.NotRenewed, notRenewed(lease, filter, now)...)
	}
	if !first.IsZero() {
		beat.ComputedAt, beat.ValidUntil = timestamppb.New(newest), timestamppb.New(first)
	}
	return encode(event)
}

type poolShard = *table.Shard[keys.Pool, *poolsv1.PoolSize]

func notRenewed(lease *table.Lease, filter *Filter[keys.Pool], now time.Time) (decisions []*poolsv1.NotRenewed) {
	for _, decision := range lease.NotRenewed {
		pool := keys.PoolOf(decision.GetPool())
		if !filter.Selects(pool) {
			continue
		}
		until, left := lease.For(pool, now)
		decisions = append(decisions, &poolsv1.NotRenewed{
			Pool: decision.GetPool(), ValidUntil: timestamppb.New(until), LeaseLeft: durationpb.New(left),
		})
	}
	return decisions
}
