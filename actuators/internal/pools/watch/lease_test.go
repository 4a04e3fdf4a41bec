package watch

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools/pool"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

func TestEachShardHasALeaseAndSomeAnswersTheirOwn(t *testing.T) {
	own := pool.Key{Service: "own", Side: poolsv1.Side_SIDE_SERVER}
	came := time.Now()
	until := func(s int64) *timestamppb.Timestamp { return &timestamppb.Timestamp{Seconds: s} }
	l := leaseOf(&poolsv1.WatchPoolSizesResponse{
		Event: &poolsv1.WatchPoolSizesResponse_Heartbeat{Heartbeat: &commonv1.Heartbeat{
			ValidUntil: until(10),
			Shards: []*commonv1.ShardLease{
				{Shard: 0, ValidUntil: until(10), LeaseLeft: durationpb.New(10 * time.Second)},
				{Shard: 1, ValidUntil: until(30), LeaseLeft: durationpb.New(30 * time.Second)},
			},
		}},
		NotRenewed: []*poolsv1.NotRenewed{{Pool: own.Proto(), ValidUntil: until(3), LeaseLeft: durationpb.New(3 * time.Second)}},
	}, came)
	for _, tt := range []struct {
		key   pool.Key
		shard uint32
		after time.Duration
		until int64
		left  time.Duration
	}{
		{cart, 0, 0, 10, 10 * time.Second},
		{cart, 0, 4 * time.Second, 10, 6 * time.Second},
		{cart, 0, time.Minute, 10, 0},
		{catalogue, 1, 4 * time.Second, 30, 26 * time.Second},
		{own, 1, time.Second, 3, 2 * time.Second},
	} {
		until, left := l.of(tt.key, tt.shard, came.Add(tt.after))
		if until.GetSeconds() != tt.until || left.AsDuration() != tt.left {
			t.Errorf("%v after %v: %v, %v left", tt.key, tt.after, until.GetSeconds(), left.AsDuration())
		}
	}
	if until, left := l.of(cart, 7, came); until.GetSeconds() != 10 || left != nil {
		t.Error("a shard that is not named has the lease that ends first:", until, left)
	}
}
