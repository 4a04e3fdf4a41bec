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

// What one watch of pools may name.
const (
	MostServices = 100
	MostPools    = 1000
)

// PoolFilter is the filter of a request.
func PoolFilter(request *poolsv1.WatchPoolSizesRequest) (*Filter[keys.Pool], error) {
	if n := len(request.GetServices()); n > MostServices {
		return nil, problem.Conflict("services", fmt.Sprintf("has %d names", n), fmt.Sprintf("at most %d", MostServices))
	}
	if n := len(request.GetPools()); n > MostPools {
		return nil, problem.Conflict("pools", fmt.Sprintf("has %d pools", n), fmt.Sprintf("at most %d", MostPools))
	}
	f := &Filter[keys.Pool]{}
	if request.GetService() != "" {
		f.whole = append(f.whole, request.GetService())
	}
	for i, name := range request.GetServices() {
		if name == "" {
			return nil, problem.Empty(fmt.Sprintf("services[%d]", i), "a service name")
		}
		f.whole = append(f.whole, name)
	}
	for i, given := range request.GetPools() {
		pool, err := problem.Pool(given, fmt.Sprintf("pools[%d]", i))
		if err != nil {
			return nil, err
		}
		f.those = append(f.those, pool)
	}
	slices.Sort(f.whole)
	slices.SortFunc(f.those, keys.Pool.Compare)
	f.whole, f.those = slices.Compact(f.whole), slices.Compact(f.those)
	f.groups = slices.Clone(f.whole)
	for _, pool := range f.those {
		f.groups = append(f.groups, pool.Service)
	}
	slices.Sort(f.groups)
	f.groups = slices.Compact(f.groups)
	if len(f.groups) == 0 {
		return f, nil
	}
	f.takes = func(pool keys.Pool) bool {
		if _, found := slices.BinarySearch(f.whole, pool.Service); found {
			return true
		}
		_, found := slices.BinarySearchFunc(f.those, pool, keys.Pool.Compare)
		return found
	}
	var lines []string
	for _, service := range f.whole {
		lines = append(lines, strconv.Quote(service))
	}
	for _, pool := range f.those {
		lines = append(lines, strconv.Quote(pool.Record()))
	}
	f.ID = id(lines...)
	return f, nil
}

// Pools are the words of WatchPoolSizes.
var Pools = Words[keys.Pool, *poolsv1.PoolSize]{answer: poolAnswer, snapshot: poolSnapshot, heartbeat: poolHeartbeat}

// poolAnswer is an entry as watchers get it. Its lease is that of when it was encoded first under the shard's heartbeat:
// the heartbeat that follows says what is left.
func poolAnswer(e *table.Pool, lease *table.Lease) *Frame {
	return e.Made(lease, func() any {
		size := proto.CloneOf(e.Answer)
		if !e.Deleted && lease != nil {
			until, _ := lease.Of(e.Key, time.Now())
			size.ComputedAt, size.ValidUntil = lease.Computed(e), timestamppb.New(until)
		}
		return encode(&poolsv1.WatchPoolSizesResponse{
			Event: &poolsv1.WatchPoolSizesResponse_PoolSize{PoolSize: size},
		})
	}).(*Frame)
}

func poolSnapshot(of *commonv1.Snapshot, token string) *Frame {
	return encode(&poolsv1.WatchPoolSizesResponse{
		Event: &poolsv1.WatchPoolSizesResponse_Snapshot{Snapshot: of}, ResumeToken: token,
	})
}

// poolHeartbeat confirms the answers of the shards that the filter leads to.
func poolHeartbeat(shards []poolShard, filter *Filter[keys.Pool], token string, now time.Time) *Frame {
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
		event.NotRenewed = append(event.NotRenewed, exempt(lease, filter, now)...)
	}
	if !first.IsZero() {
		beat.ComputedAt, beat.ValidUntil = timestamppb.New(newest), timestamppb.New(first)
	}
	return encode(event)
}

type poolShard = *table.Shard[keys.Pool, *poolsv1.PoolSize]

func exempt(lease *table.Lease, filter *Filter[keys.Pool], now time.Time) (those []*poolsv1.NotRenewed) {
	for _, each := range lease.NotRenewed {
		pool := keys.Of(each.GetPool())
		if !filter.Takes(pool) {
			continue
		}
		until, left := lease.Of(pool, now)
		those = append(those, &poolsv1.NotRenewed{
			Pool: each.GetPool(), ValidUntil: timestamppb.New(until), LeaseLeft: durationpb.New(left),
		})
	}
	return those
}
