package pools_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/watch"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// nonsense is a decision of a recommender with any bug: sizes of 0, negative ones as on the wire, sizes of another unit or
// scale, invalid leases and times, enums of a later version.
func nonsense(random *rand.Rand) *poolsv1.PoolSize {
	sizes := []uint32{0, 1, 2, 12, 64, 127, 128, 129, 200, 12_000, 150_000_000, 1 << 31, math.MaxUint32, math.MaxUint32 - 11, random.Uint32()}
	size := func() uint32 { return sizes[random.IntN(len(sizes))] }
	target := size()
	answer := &poolsv1.PoolSize{
		Pool: cart.Proto(), Action: commonv1.Action(random.IntN(5) - 1), Target: &target, Revision: random.Uint64(),
		Confidence: []float64{0, 1, -1, math.NaN(), math.Inf(1)}[random.IntN(5)], ValidUntil: timestamppb.New(time.Now().Add(time.Hour)),
	}
	if random.IntN(2) == 0 {
		answer.Action = commonv1.Action_ACTION_APPLY
	}
	switch random.IntN(8) {
	case 0:
		answer.Target = nil
	case 1:
		answer.ValidUntil = &timestamppb.Timestamp{Seconds: random.Int64() - random.Int64(), Nanos: int32(random.Uint32())}
	case 2:
		answer.LeaseLeft = &durationpb.Duration{Seconds: random.Int64() - random.Int64(), Nanos: int32(random.Uint32())}
	case 3:
		answer.Targets = []string{"", "cart-7", "cart-7", "another"}[random.IntN(4):]
	case 4:
		other, own := size(), size()
		answer.Sizes = []*poolsv1.TargetSize{nil, {Instance: "cart-8", Size: &other}, {Instance: "cart-7", Size: &own}, {Unbounded: true}}
	}
	return answer
}

// Whatever the decision, a target has a size within its limits, in steps of its factor, within its writes of an hour, and the
// report of each write has the size in force.
func TestNonsenseStaysWithinTheTargetsLimits(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(13, seed))
			b := start(t, true, 2)
			inForce := []uint32{64}
			for range 500 {
				b.mu.Lock()
				before := b.superseded
				b.superseded = make(chan struct{})
				b.snapshot = watch.Snapshot{ReceivedAt: time.Now(), Superseded: b.superseded, Sizes: map[pool.Key]*poolsv1.PoolSize{cart: nonsense(random)}}
				others := b.snapshot.Sizes[cart].GetSizes()
				b.mu.Unlock()
				written := len(b.fake.Written()) // before the loop hears of it, which may write at once
				close(before)
				advance(time.Duration(random.IntN(30)) * time.Second)
				for _, size := range b.fake.Written()[written:] {
					if size < 2 || size > 128 {
						t.Fatalf("wrote %d", size)
					}
					near := false
					for _, from := range inForce {
						near = near || size <= 2*from && 2*size >= from
					}
					for _, other := range others { // what another instance is said to have counts as far as the limits allow it
						near = near || other.GetSize() >= 2 && other.GetSize() <= 128 && size <= 2*other.GetSize() && 2*size >= other.GetSize()
					}
					if !near {
						t.Fatalf("wrote %d after %v, others %v", size, inForce, others)
					}
					inForce = append(inForce, size)
				}
			}
			for _, report := range b.sent() {
				if report.GetOutcome() == poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED && report.GetRequested() != report.GetReadBack() {
					t.Fatalf("told %v", report)
				}
			}
			if len(inForce) < 5 {
				t.Errorf("only %v was written: the nonsense hides what is none", inForce)
			}
		})
	}
}

// The same decision is nonsense for one target and legal for another: each has its own limits.
func TestEachOfTheNonsenseIsRefusedForItsGround(t *testing.T) {
	lease := timestamppb.New(time.UnixMilli(2_000_000))
	for name, tt := range map[string]struct {
		target uint32
		code   policy.Code
	}{
		"zero": {0, policy.OutOfLimits}, "negative": {math.MaxUint32 - 11, policy.OutOfLimits}, "huge": {math.MaxUint32, policy.OutOfLimits},
		"milliseconds": {12_000, policy.OutOfLimits}, "beyond": {129, policy.OutOfLimits},
	} {
		answer := &poolsv1.PoolSize{Action: commonv1.Action_ACTION_APPLY, Target: &tt.target, ValidUntil: lease}
		rules := policy.Rules{Apply: true, Min: 2, Max: 128, MaxFactor: 2}
		got := policy.Decide(rules, answer, policy.Replica{Size: pool.Of(64)}, time.UnixMilli(1_000_000))
		if got.Action != policy.Refuse || got.Code != tt.code {
			t.Errorf("%s: %s", name, fmt.Sprint(got))
		}
	}
}
