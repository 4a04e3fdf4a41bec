package watch

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/table"

	commonv1 "sluice.dev/api/common/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// SubsetFilter selects subsets by upstream service, its instance, and downstream service; an empty name selects all.
func SubsetFilter(upstream, instance, downstream string) *Filter[keys.Subset] {
	f := &Filter[keys.Subset]{ID: id("subsets", fmt.Sprintf("%q %q %q", upstream, instance, downstream))}
	if upstream != "" {
		f.fullGroups, f.groups = []string{upstream}, []string{upstream}
	}
	if upstream != "" || instance != "" || downstream != "" {
		f.selects = func(key keys.Subset) bool {
			return (upstream == "" || key.Upstream == upstream) && (instance == "" || key.Instance == instance) &&
				(downstream == "" || key.Downstream == downstream)
		}
	}
	return f
}

// SubsetEncoder encodes the events of WatchSubsets.
var SubsetEncoder = Encoder[keys.Subset, *subsetsv1.Subset]{publication: encodeSubset, snapshot: encodeSubsetSnapshot, heartbeat: encodeSubsetHeartbeat}

// encodeSubset ignores the lease, because subsets have none.
func encodeSubset(e *table.Subset, _ *table.Lease) *Frame {
	return e.Derived(nil, func() any {
		return encode(&subsetsv1.WatchSubsetsResponse{Event: &subsetsv1.WatchSubsetsResponse_Subset{Subset: e.Publication}})
	}).(*Frame)
}

func encodeSubsetSnapshot(snapshot *commonv1.Snapshot, token string) *Frame {
	return encode(&subsetsv1.WatchSubsetsResponse{
		Event: &subsetsv1.WatchSubsetsResponse_Snapshot{Snapshot: snapshot}, ResumeToken: token,
	})
}

func encodeSubsetHeartbeat(
	shards []*table.Shard[keys.Subset, *subsetsv1.Subset], _ *Filter[keys.Subset], token string, _ time.Time,
) *Frame {
	return encode(&subsetsv1.WatchSubsetsResponse{
		Event: &subsetsv1.WatchSubsetsResponse_Heartbeat{Heartbeat: leaselessHeartbeat(shards)}, ResumeToken: token,
	})
}

// leaselessHeartbeat is a heartbeat with the time of the deciders' last period, for records without a lease.
func leaselessHeartbeat[K table.Key[K], V any](shards []*table.Shard[K, V]) *commonv1.Heartbeat {
	beat := &commonv1.Heartbeat{}
	var newest time.Time
	for _, shard := range shards {
		if shard.Lease == nil {
			continue
		}
		if shard.Lease.ComputedAt.After(newest) {
			newest = shard.Lease.ComputedAt
		}
		beat.Shards = append(beat.Shards, &commonv1.ShardLease{
			Shard: uint32(shard.Number), ComputedAt: timestamppb.New(shard.Lease.ComputedAt),
		})
	}
	if !newest.IsZero() {
		beat.ComputedAt = timestamppb.New(newest)
	}
	return beat
}
