package loop_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice.dev/actuators/internal/loop"
	"sluice.dev/actuators/internal/policy"
	"sluice.dev/actuators/internal/realize/realizetest"
)

func TestSlowTargetHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{superseded: make(chan struct{})}
		slow, quick := realizetest.NewFake(64), realizetest.NewFake(64)
		slow.Stall()
		l := &loop.Loop{Interval: 2 * time.Second, Source: b, Reporter: b, Recorder: b, Log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			l.Run(ctx, []loop.Target{{Name: "slow", Realizer: slow}, {Name: "quick", Realizer: quick}}, nil)
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
		l := &loop.Loop{Source: b, Reporter: b, Recorder: b, Log: slog.New(slog.DiscardHandler)}
		rules := policy.Rules{Apply: true, Min: 1, Max: 128, MaxFactor: 100}
		passes := l.Once(t.Context(), []loop.Target{
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
		l := &loop.Loop{Interval: 2 * time.Second, Source: b, Reporter: b, Recorder: b, Log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		done, changes := make(chan struct{}), make(chan loop.Change)
		go func() { l.Run(ctx, nil, changes); close(done) }()
		at := func(name, address string, size uint32) loop.Target {
			return loop.Target{Name: name, Address: address, Realizer: realizetest.NewFake(size)}
		}
		a := at("cart.a", "10.0.0.1:1", 1)
		changes <- loop.Change{Group: "cart", Targets: []loop.Target{a}}
		synctest.Wait()
		b.want(t, "OBSERVED 1")
		changes <- loop.Change{Group: "rows", Targets: []loop.Target{at("rows.a", "10.0.0.3:1", 3)}}
		changes <- loop.Change{Group: "cart", Targets: []loop.Target{a, at("cart.b", "10.0.0.2:1", 2)}}
		advance(17 * time.Second) // one that began anew would be told at once, too
		if said := b.said(); strings.Count(said, "OBSERVED 1") != 1 || strings.Count(said, "OBSERVED 2") != 2 {
			t.Errorf("reports %q, want the first one undisturbed", said)
		}
		changes <- loop.Change{Group: "cart", Targets: []loop.Target{at("cart.a", "10.0.0.9:1", 9)}} // under its name, elsewhere
		synctest.Wait()
		b.want(t, "OBSERVED 9")
		changes <- loop.Change{Group: "cart"}
		changes <- loop.Change{Group: "rows"}
		advance(10 * time.Second)
		b.want(t, "")
		cancel()
		<-done
	})
}
