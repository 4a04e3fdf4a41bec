package pools_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/tests/realizetest"
)

func TestSlowTargetHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{superseded: make(chan struct{})}
		slow, quick := realizetest.NewFake(64), realizetest.NewFake(64)
		slow.Stall()
		l := &pools.Loop{Interval: 2 * time.Second, Source: b, Reporter: b, Recorder: b, Log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			l.Run(ctx, []pools.Target{{Name: "slow", Realizer: slow}, {Name: "quick", Realizer: quick}}, nil)
			close(done)
		}()
		advance(9 * time.Second)
		b.want(t, "OBSERVED 64")
		if n := len(b.recorded()); n != 5 {
			t.Errorf("%d readings of the quick one, want 5", n)
		}
		cancel()
		<-done
	})
}

func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{superseded: make(chan struct{})}
		b.recommend(12, 1, time.Hour)
		good, broken := realizetest.NewFake(64), realizetest.NewFake(64)
		broken.Break(errors.New("out of order"))
		l := &pools.Loop{Source: b, Reporter: b, Recorder: b, Log: slog.New(slog.DiscardHandler)}
		rules := policy.Rules{Apply: true, Min: 1, Max: 128, MaxFactor: 100}
		passes := l.Once(t.Context(), []pools.Target{
			{Name: "good", Pool: cart, Rules: rules, Realizer: good}, {Name: "broken", Pool: cart, Rules: rules, Realizer: broken},
		})
		if len(passes) != 2 {
			t.Fatalf("%d passes, want 2", len(passes))
		}
		for _, p := range passes {
			if p.Failed() != (p.Target == "broken") {
				t.Errorf("%s: failed %t (%v)", p.Target, p.Failed(), p.ReadErr)
			}
		}
		b.want(t, "APPLIED 64>12=12")
	})
}

func TestTargetsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{superseded: make(chan struct{})}
		l := &pools.Loop{Interval: 2 * time.Second, Source: b, Reporter: b, Recorder: b, Log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		done, changes := make(chan struct{}), make(chan pools.Change)
		go func() { l.Run(ctx, nil, changes); close(done) }()
		at := func(name, address string, size uint32) pools.Target {
			return pools.Target{Name: name, Address: address, Realizer: realizetest.NewFake(size)}
		}
		a := at("cart.a", "10.0.0.1:1", 1)
		changes <- pools.Change{Group: "cart", Targets: []pools.Target{a}}
		synctest.Wait()
		b.want(t, "OBSERVED 1")
		changes <- pools.Change{Group: "rows", Targets: []pools.Target{at("rows.a", "10.0.0.3:1", 3)}}
		changes <- pools.Change{Group: "cart", Targets: []pools.Target{a, at("cart.b", "10.0.0.2:1", 2)}}
		advance(17 * time.Second) // one that began anew would be told at once, too
		if reportsSent := b.reportsSent(); strings.Count(reportsSent, "OBSERVED 1") != 1 || strings.Count(reportsSent, "OBSERVED 2") != 2 {
			t.Errorf("reports %q, want the first one undisturbed", reportsSent)
		}
		changes <- pools.Change{Group: "cart", Targets: []pools.Target{at("cart.a", "10.0.0.9:1", 9)}} // under its name, elsewhere
		synctest.Wait()
		b.want(t, "OBSERVED 9")
		changes <- pools.Change{Group: "cart"}
		changes <- pools.Change{Group: "rows"}
		advance(10 * time.Second)
		b.want(t, "")
		cancel()
		<-done
	})
}
