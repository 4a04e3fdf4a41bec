package watch

import (
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/table"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Frame is an encoded WatchPoolSizesResponse, shared by all who are sent it: nothing is made for each.
type Frame struct{ Bytes mem.BufferSlice }

func encode(event *poolsv1.WatchPoolSizesResponse) *Frame {
	b, err := proto.Marshal(event)
	if err != nil {
		panic(err) // only a string that is no UTF-8 can be at fault, and none was decoded
	}
	return &Frame{mem.BufferSlice{mem.SliceBuffer(b)}}
}

// answer is an entry as watchers get it. Its lease is that of when it was encoded first under the shard's heartbeat: the
// heartbeat that follows says what is left.
func answer(e *table.Entry, lease *table.Lease) *Frame {
	return e.Made(lease, func() any {
		size := proto.CloneOf(e.Size)
		if !e.Deleted() && lease != nil {
			until, _ := lease.Of(e.Key, time.Now())
			size.ComputedAt, size.ValidUntil = lease.Computed(e), timestamppb.New(until)
		}
		return encode(&poolsv1.WatchPoolSizesResponse{
			Event: &poolsv1.WatchPoolSizesResponse_PoolSize{PoolSize: size},
		})
	}).(*Frame)
}

func snapshot(answers int, why commonv1.Resumption, token string) *Frame {
	return encode(&poolsv1.WatchPoolSizesResponse{
		Event: &poolsv1.WatchPoolSizesResponse_Snapshot{
			Snapshot: &commonv1.Snapshot{Answers: uint32(answers), Resumption: why},
		},
		ResumeToken: token,
	})
}

// heartbeat confirms the answers of the shards that the filter leads to, of all where it leads to none.
func heartbeat(t *table.Table, view *table.View, filter *Filter, token string, now time.Time) *Frame {
	beat := &commonv1.Heartbeat{}
	event := &poolsv1.WatchPoolSizesResponse{
		Event: &poolsv1.WatchPoolSizesResponse_Heartbeat{Heartbeat: beat}, ResumeToken: token,
	}
	var newest, first time.Time
	for _, shard := range relevant(t, view, filter) {
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

func exempt(lease *table.Lease, filter *Filter, now time.Time) (those []*poolsv1.NotRenewed) {
	for _, each := range lease.NotRenewed {
		pool := poolOf(each)
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
