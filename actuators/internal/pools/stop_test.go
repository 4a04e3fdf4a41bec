package pools_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/state"
	"sluice.dev/actuators/internal/tests/realizetest"
)

func TestStopFinishesTheWriteUnderWay(t *testing.T) {
	applying(t, 100, func(t *testing.T, b *bench) {
		b.fake.OnWrite(settleAfter(b.fake, 2*time.Second))
		b.recommend(12, 1, time.Hour)
		advance(time.Second)
		b.cancel()
		began := time.Now()
		<-b.done
		if took := time.Since(began); took < 900*time.Millisecond || took > 1500*time.Millisecond {
			t.Errorf("stopped after %s, want about the second until the size was in force", took)
		}
		b.want(t, "APPLIED 64>12=12")
	})
}

func TestStopWaitsNoLongerThanTheGrace(t *testing.T) {
	applying(t, 100, func(t *testing.T, b *bench) {
		b.fake.OnWrite(func(uint32) error { b.fake.Stall(); return nil })
		b.recommend(12, 1, time.Hour)
		advance(time.Second)
		b.cancel()
		began := time.Now()
		<-b.done
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("stopped after %s, want the grace of 3 s", took)
		}
		b.want(t, "FAILED 64>12=?")
	})
}

// The next process finds out what a process that had to stop could not.
func TestStopWithinAWriteIsResolvedByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, disk := &bench{fake: realizetest.NewFake(64), superseded: make(chan struct{})}, &state.Memory{}
		b.recommend(12, 7, time.Hour)
		target := pools.Target{Name: "cart.threads", Pool: cart, Realizer: b.fake, Settle: 5 * time.Second,
			Rules: policy.Rules{Apply: true, Min: 2, Max: 128, MaxFactor: 100, Cooldown: time.Hour}}
		process := func() *pools.Loop {
			return &pools.Loop{Interval: time.Second, Grace: 1100 * time.Millisecond, Source: b, Reporter: b, Recorder: b,
				Log: slog.New(slog.DiscardHandler), Book: state.NewBook(disk)}
		}
		b.fake.OnWrite(settleAfter(b.fake, 3*time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		process().Run(ctx, []pools.Target{target}, nil)
		b.want(t, "FAILED 64>12=64") // at 2.1 s, between two readings
		process().Once(t.Context(), []pools.Target{target})
		b.want(t, "APPLIED 64>12=12, OBSERVED 12")
	})
}

func TestStopAtAStalledReadIsNoFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.fake.Stall()
		advance(2 * time.Second)
		b.cancel()
		<-b.done
		if strings.Contains(b.logs.String(), "cannot read") {
			t.Errorf("blames the target:\n%s", &b.logs)
		}
	})
}
