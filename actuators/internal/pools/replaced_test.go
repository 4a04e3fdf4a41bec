package pools_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/watch"
	"sluice.dev/actuators/internal/tests/realizetest"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// wave sets a decision that is for these targets first; without any it is for all.
func (b *bench) wave(target uint32, sizes map[string]uint32, targets ...string) {
	var others []*poolsv1.TargetSize
	for instance, size := range sizes {
		others = append(others, &poolsv1.TargetSize{Instance: instance, Size: &size})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.superseded
	b.superseded = make(chan struct{})
	b.snapshot = watch.Snapshot{ReceivedAt: time.Now(), Superseded: b.superseded, Sizes: map[pool.Key]*poolsv1.PoolSize{cart: {
		Pool: cart.Proto(), Action: commonv1.Action_ACTION_APPLY, Target: &target, Targets: targets, Sizes: others,
		ValidUntil: timestamppb.New(time.Now().Add(time.Hour)),
	}}}
	close(before)
}

// Half of the pods are replaced during a wave on two of eight. A new pod keeps its own size until the decision is for it. A
// pod that is gone delays no other and is reported no more. The last wave brings all to one size.
func TestHalfOfThePodsAreReplacedWithinAWave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{superseded: make(chan struct{}), done: make(chan struct{})}
		b.snapshot.Superseded = b.superseded
		l := &pools.Loop{Interval: 2 * time.Second, Grace: time.Second, Source: b, Reporter: b, Recorder: b, Log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		changes := make(chan pools.Change)
		go func() { l.Run(ctx, nil, changes); close(b.done) }()
		pods := map[string]*realizetest.Fake{}
		there := func(names ...string) {
			var targets []pools.Target
			for _, name := range names {
				if pods[name] == nil {
					pods[name] = realizetest.NewFake(64)
				}
				targets = append(targets, pools.Target{Name: "cart." + name, Instance: name, Address: name, Pool: cart, Realizer: pods[name],
					Rules: policy.Rules{Apply: true, Min: 2, Max: 128, MaxFactor: 2, Cooldown: 3 * time.Second}})
			}
			changes <- pools.Change{Group: "cart", Targets: targets}
			synctest.Wait()
		}
		sizes := func() string {
			all := map[string]uint32{}
			for name, fake := range pods {
				all[name] = fake.Size()
			}
			return fmt.Sprint(all)
		}

		there("a", "b", "c", "d", "e", "f", "g", "h")
		b.wave(32, nil, "a", "b")
		advance(4 * time.Second)
		if got := sizes(); got != "map[a:32 b:32 c:64 d:64 e:64 f:64 g:64 h:64]" {
			t.Fatalf("sizes %s: the wave is for a and b", got)
		}

		// During a's write: its pod takes it and never responds again.
		b.wave(16, nil, "a", "b")
		pods["a"].Stall()
		there("b", "f", "g", "h", "w", "x", "y", "z") // a, c, d and e are gone
		b.reportsSent()
		advance(4 * time.Second)
		if got := sizes(); got != "map[a:32 b:16 c:64 d:64 e:64 f:64 g:64 h:64 w:64 x:64 y:64 z:64]" {
			t.Errorf("sizes %s: nobody new is in the wave", got)
		}
		for _, report := range b.sent() {
			switch report.GetInstance() {
			case "a", "c", "d", "e":
				t.Errorf("told of one that is gone: %v", report)
			}
		}

		// The decider selects others, and then all; a distant size gets there in one step, because others have the target
		// size.
		b.wave(16, map[string]uint32{"b": 16}, "b", "w")
		advance(4 * time.Second)
		if w, x := pods["w"].Size(), pods["x"].Size(); w != 16 || x != 64 {
			t.Errorf("w has %d and x %d, want 16 and 64", w, x)
		}
		b.wave(16, map[string]uint32{"b": 16, "w": 16})
		advance(4 * time.Second)
		for name, fake := range pods {
			gone := name == "a" || name == "c" || name == "d" || name == "e"
			if !gone && (fake.Size() != 16 || len(fake.Written()) > 2) {
				t.Errorf("%s has %d, wrote %v, want 16 at once", name, fake.Size(), fake.Written())
			}
			if gone && name != "a" && fake.Written() != nil {
				t.Errorf("%s is gone, and was given %v", name, fake.Written())
			}
		}
		cancel()
		<-b.done
	})
}
