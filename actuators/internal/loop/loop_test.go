package loop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/audit"
	"sluice.dev/actuators/internal/loop"
	"sluice.dev/actuators/internal/policy"
	"sluice.dev/actuators/internal/pool"
	"sluice.dev/actuators/internal/realize/realizetest"
	"sluice.dev/actuators/internal/state"
	"sluice.dev/actuators/internal/watch"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

var cart = pool.Key{Service: "cart", Side: poolsv1.Side_SIDE_SERVER}

// bench is one target, cart.threads with 64, in a bubble of fake time: an interval of 2 s, a settle time of 5 s,
// a cool-down of 10 s, limits 2..128.
type bench struct {
	fake   *realizetest.Fake
	logs   bytes.Buffer
	cancel context.CancelFunc
	done   chan struct{}

	mu         sync.Mutex
	snapshot   watch.Snapshot
	superseded chan struct{}
	reports    []*poolsv1.Actuation
	passes     []loop.Pass
}

func (b *bench) Latest() watch.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.snapshot
}

func (b *bench) Report(r audit.Report) {
	b.mu.Lock()
	b.reports = append(b.reports, r.Actuation)
	b.mu.Unlock()
	if r.Told != nil {
		r.Told()
	}
}

func (b *bench) Record(p loop.Pass) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.passes = append(b.passes, p)
}

func (b *bench) Begin(loop.Target) {}
func (b *bench) End(string)        {}

// recommend gives another answer, with a lease of the given length, and with the sizes of other instances.
func (b *bench) recommend(target uint32, revision uint64, lease time.Duration, others ...*poolsv1.TargetSize) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.superseded
	b.superseded = make(chan struct{})
	b.snapshot = watch.Snapshot{
		ReceivedAt: time.Now(), Superseded: b.superseded,
		Sizes: map[pool.Key]*poolsv1.PoolSize{cart: {
			Pool: cart.Proto(), Action: commonv1.Action_ACTION_APPLY, Target: &target, Revision: revision,
			ValidUntil: timestamppb.New(time.Now().Add(lease)), Sizes: others,
		}},
	}
	if before != nil {
		close(before)
	}
}

// start runs a loop on a pool of 64; maxFactor is how far one write goes, 100 without it.
func start(t *testing.T, apply bool, maxFactor ...float64) *bench {
	return startWith(t, apply, func(*loop.Loop) {}, maxFactor...)
}

// startWith lets a test change the loop before it runs.
func startWith(t *testing.T, apply bool, change func(*loop.Loop), maxFactor ...float64) *bench {
	b := &bench{fake: realizetest.NewFake(64), done: make(chan struct{}), superseded: make(chan struct{})}
	b.snapshot.Superseded = b.superseded
	maxFactor = append(maxFactor, 100)
	l := &loop.Loop{
		Actuator: "bench", Interval: 2 * time.Second, Grace: 3 * time.Second,
		Source: b, Reporter: b, Recorder: b, Log: slog.New(slog.NewTextHandler(&b.logs, nil)),
	}
	change(l)
	ctx, cancel := context.WithCancel(t.Context())
	b.cancel = cancel
	targets := []loop.Target{{
		Name: "cart.threads", Instance: "cart-7", Pool: cart, Settle: 5 * time.Second, Realizer: b.fake,
		Rules: policy.Rules{Apply: apply, Min: 2, Max: 128, MaxFactor: maxFactor[0], Cooldown: 10 * time.Second},
	}}
	go func() { l.Run(ctx, targets, nil); close(b.done) }()
	t.Cleanup(func() { cancel(); <-b.done })
	synctest.Wait()
	return b
}

// advance lets fake time pass, and everything that falls due in it happen.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// said returns the reports since the last call: "OBSERVED 64", "APPLIED 64>12=12", "FAILED 64>12=?".
func (b *bench) said() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	number := func(n *uint32) string {
		if n == nil {
			return "?"
		}
		return fmt.Sprint(*n)
	}
	var all []string
	for _, r := range b.reports {
		name := strings.TrimPrefix(r.GetOutcome().String(), "ACTUATION_OUTCOME_")
		if r.Requested == nil {
			all = append(all, name+" "+number(r.ReadBack))
		} else {
			all = append(all, name+" "+number(r.Previous)+">"+number(r.Requested)+"="+number(r.ReadBack))
		}
	}
	b.reports = nil
	return strings.Join(all, ", ")
}

// settleAfter is a target that takes a write at once and has it in force later.
func settleAfter(fake *realizetest.Fake, late time.Duration) func(uint32) error {
	return func(size uint32) error {
		time.AfterFunc(late, func() { fake.SetSize(size) })
		return nil
	}
}

func (b *bench) want(t *testing.T, want string) {
	t.Helper()
	if got := b.said(); got != want {
		t.Errorf("reports %q, want %q", got, want)
	}
}

func TestRecommendOnlyNeverWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, false)
		b.want(t, "OBSERVED 64")
		b.recommend(12, 1, time.Hour)
		advance(5 * time.Second) // at once, and after 2 s and 4 s
		b.want(t, "OBSERVED 64, OBSERVED 64, OBSERVED 64")
		if got := b.fake.Written(); got != nil {
			t.Errorf("wrote %v without an opt-in", got)
		}
	})
}

func TestAppliesReadsBackAndReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.want(t, "OBSERVED 64")
		b.recommend(12, 7, time.Hour)
		synctest.Wait() // other answers are acted on at once, not an interval later
		report := b.reports[0]
		b.want(t, "APPLIED 64>12=12")
		if report.GetRevision() != 7 || report.GetTargetName() != "cart.threads" || report.GetInstance() != "cart-7" || report.GetActuator() != "bench" ||
			pool.FromProto(report.GetPool()) != cart || !report.GetAt().AsTime().Equal(time.Now()) {
			t.Errorf("report %v", report)
		}
		advance(time.Minute)
		if got := fmt.Sprint(b.fake.Written()); got != "[12]" {
			t.Errorf("wrote %s in a minute, want [12]: what is in place is not applied again", got)
		}
	})
}

func TestGoesFarInStepsACoolDownApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true, 2)
		b.said()
		b.recommend(12, 1, time.Hour)
		synctest.Wait()
		b.want(t, "APPLIED 64>32=32")
		advance(9 * time.Second)
		b.said()
		advance(12 * time.Second)
		if got := fmt.Sprint(b.fake.Written()); got != "[32 16 12]" {
			t.Errorf("wrote %s, want [32 16 12]", got)
		}
	})
}

func TestAnUnboundedPoolIsToldSoAndGivenTheTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true, 2)
		b.said()
		b.fake.Unbound()
		advance(2 * time.Second)
		if report := b.reports[0]; !report.GetUnbounded() || report.ReadBack != nil {
			t.Errorf("report %v, want unbounded and no size", report)
		}
		b.want(t, "OBSERVED ?")
		b.recommend(12, 1, time.Hour)
		synctest.Wait()
		if report := b.reports[0]; report.GetUnbounded() || report.Previous != nil {
			t.Errorf("report %v, want bounded, and no size before", report)
		}
		b.want(t, "APPLIED ?>12=12")
	})
}

func TestWaitsUntilTheSizeSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.said()
		b.fake.OnWrite(settleAfter(b.fake, 3*time.Second))
		b.recommend(12, 1, time.Hour)
		advance(2900 * time.Millisecond)
		b.want(t, "")
		advance(400 * time.Millisecond) // settled at 3 s; seen by the read-back at 3 s or 3.25 s
		b.want(t, "APPLIED 64>12=12")
	})
}

func TestRefusedBehindASuccessIsANack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.said()
		b.fake.OnWrite(func(uint32) error { return nil }) // takes every write and changes nothing
		b.recommend(12, 1, time.Hour)
		advance(5 * time.Second)
		if detail := b.reports[0].GetDetail(); detail != "read back 64 after 5s, want 12" {
			t.Errorf("detail %q", detail)
		}
		b.want(t, "FAILED 64>12=64")
		// Again after 10 s, then 20 s, then 40 s of cool-down, never each interval.
		advance(2 * time.Minute)
		if got := fmt.Sprint(b.fake.Written()); got != "[12 12 12 12]" {
			t.Errorf("wrote %s in two minutes, want [12 12 12 12]", got)
		}
	})
}

func TestWriteErrorIsANackWithWhatIsInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.said()
		b.fake.OnWrite(func(uint32) error { return errors.New("write size 12: status 400: want 20..256") })
		b.recommend(12, 1, time.Hour)
		synctest.Wait()
		if detail := b.reports[0].GetDetail(); detail != "write size 12: status 400: want 20..256" {
			t.Errorf("detail %q, want what the target said", detail)
		}
		b.want(t, "FAILED 64>12=64")
	})
}

func TestReadBackErrorIsANackWithoutASize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.said()
		b.fake.OnWrite(func(uint32) error { b.fake.Break(errors.New("out of order")); return nil })
		b.recommend(12, 1, time.Hour)
		advance(5 * time.Second)
		b.want(t, "FAILED 64>12=?")
		advance(time.Minute)
		b.want(t, "") // a target that cannot be read is not reported: missing is not 0
		b.fake.OnWrite(nil)
		b.fake.Break(nil)
		advance(2 * time.Second)
		b.want(t, "APPLIED 64>12=12")
		if n := strings.Count(b.logs.String(), "cannot read the target"); n != 1 {
			t.Errorf("said %d times that the target cannot be read, want once:\n%s", n, &b.logs)
		}
	})
}

func TestRepairsDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.recommend(12, 1, time.Hour)
		advance(time.Minute)
		b.said()
		b.fake.SetSize(64) // the application was restarted
		advance(2 * time.Second)
		b.want(t, "APPLIED 64>12=12")
	})
}

func TestASizeSetByHandIsPutRightInOneWriteAndAFightGetsRarer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true, 2)
		b.fake.SetSize(16)
		b.recommend(12, 1, time.Hour)
		synctest.Wait()
		b.said()
		b.fake.SetSize(200) // within the cool-down of 10 s
		advance(2 * time.Second)
		b.want(t, "APPLIED 200>12=12")
		began := time.Now()
		for time.Since(began) < 2*time.Minute { // something else wants 200, and says so every second
			b.fake.SetSize(200)
			advance(time.Second)
		}
		// Again 20 s, 40 s and 80 s after the write before, never each interval.
		if got := fmt.Sprint(b.fake.Written()); got != "[12 12 12 12]" {
			t.Errorf("wrote %s, want [12 12 12 12]", got)
		}
	})
}

func TestASizeThatSettledLateIsOneToGoBackTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true, 2)
		b.fake.SetSize(16)
		b.fake.OnWrite(settleAfter(b.fake, 6*time.Second))
		b.recommend(12, 1, time.Hour)
		advance(8 * time.Second)
		if said := b.said(); !strings.Contains(said, "FAILED 16>12=16, OBSERVED 12") {
			t.Errorf("reports %q, want a size in force only after its time", said)
		}
		b.fake.OnWrite(nil)
		b.fake.SetSize(100)
		advance(2 * time.Second)
		b.want(t, "APPLIED 100>12=12")
	})
}

func TestAReplicaIsBroughtToTheSizeOfTheOthersInOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true, 2)
		b.said()
		this, others := uint32(64), uint32(12)
		b.recommend(12, 1, time.Hour,
			&poolsv1.TargetSize{Instance: "cart-6", Size: &others}, &poolsv1.TargetSize{Instance: "cart-7", Size: &this})
		synctest.Wait()
		b.want(t, "APPLIED 64>12=12")
	})
}

func TestItsOwnReportIsNotTheSizeOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true, 2)
		b.said()
		before := uint32(12)
		b.recommend(12, 1, time.Hour, &poolsv1.TargetSize{Instance: "cart-7", Size: &before})
		synctest.Wait()
		b.want(t, "APPLIED 64>32=32")
	})
}

func TestRecommenderLostKeepsTheLastGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.recommend(12, 1, 30*time.Second)
		synctest.Wait()
		b.said()
		advance(time.Hour) // the lease is over, nobody renews it
		if got := b.fake.Size(); got != 12 {
			t.Errorf("size %d, want 12 as applied last", got)
		}
		if said := b.said(); strings.Contains(said, "REFUSED") {
			t.Errorf("what is in place is not refused: %.100s", said)
		}
		b.fake.SetSize(20) // moved by hand: without a lease it stays so, and this is said once
		advance(6 * time.Second)
		b.want(t, "REFUSED 20>12=20, OBSERVED 20, OBSERVED 20")
		if got := fmt.Sprint(b.fake.Written()); got != "[12]" {
			t.Errorf("wrote %s, want [12]", got)
		}
	})
}

func TestRefusesOnceForEachGround(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.said()
		b.recommend(200, 1, time.Hour)
		advance(3 * time.Second)
		b.want(t, "REFUSED 64>200=64, OBSERVED 64")
		b.recommend(300, 2, time.Hour)
		synctest.Wait()
		b.want(t, "REFUSED 64>300=64")
		b.recommend(0, 3, time.Hour)
		synctest.Wait()
		b.want(t, "REFUSED 64>0=64")
		if got := b.fake.Written(); got != nil {
			t.Errorf("wrote %v", got)
		}
	})
}

func TestLogsChangesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.recommend(12, 1, 24*time.Hour)
		advance(10 * time.Hour)
		// no answer, size applied, in place.
		if lines := strings.Count(b.logs.String(), "\n"); lines != 3 {
			t.Errorf("%d lines in ten hours, want 3:\n%s", lines, &b.logs)
		}
	})
}

func TestStopFinishesTheWriteUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.said()
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
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true)
		b.said()
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

// What a process that had to stop could not find out is left to the next one.
func TestStopWithinAWriteIsResolvedByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, disk := &bench{fake: realizetest.NewFake(64), superseded: make(chan struct{})}, &state.Memory{}
		b.recommend(12, 7, time.Hour)
		target := loop.Target{Name: "cart.threads", Pool: cart, Realizer: b.fake, Settle: 5 * time.Second,
			Rules: policy.Rules{Apply: true, Min: 2, Max: 128, MaxFactor: 100, Cooldown: time.Hour}}
		process := func() *loop.Loop {
			return &loop.Loop{Interval: time.Second, Grace: 1100 * time.Millisecond, Source: b, Reporter: b, Recorder: b,
				Log: slog.New(slog.DiscardHandler), Book: state.NewBook(disk)}
		}
		b.fake.OnWrite(settleAfter(b.fake, 3*time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		process().Run(ctx, []loop.Target{target}, nil)
		b.want(t, "FAILED 64>12=64") // at 2.1 s, between two readings
		process().Once(t.Context(), []loop.Target{target})
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
		b.want(t, "OBSERVED 64, OBSERVED 64, OBSERVED 64, OBSERVED 64, OBSERVED 64")
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
		advance(2 * time.Second)
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
