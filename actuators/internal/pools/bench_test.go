package pools_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/watch"
	"sluice.dev/actuators/internal/tests/realizetest"
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
	passes     []pools.Pass
	refuses    error
}

func (b *bench) Latest() watch.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.snapshot
}

func (b *bench) Report(r pools.Report) {
	b.mu.Lock()
	b.reports = append(b.reports, r.Message.GetActuation())
	refused := b.refuses
	b.mu.Unlock()
	if r.Done != nil {
		r.Done(refused)
	}
}

// sent are the reports since they were last drained.
func (b *bench) sent() []*poolsv1.Actuation {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.reports)
}

// drain returns the reports and forgets them.
func (b *bench) drain() []*poolsv1.Actuation {
	b.mu.Lock()
	defer b.mu.Unlock()
	reports := b.reports
	b.reports = nil
	return reports
}

// refuse makes the recommender refuse each report for good; nil: no longer.
func (b *bench) refuse(with error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuses = with
}

func (b *bench) Record(p pools.Pass) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.passes = append(b.passes, p)
}

// recorded are all passes.
func (b *bench) recorded() []pools.Pass {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.passes)
}

// decision is that of the newest pass.
func (b *bench) decision() policy.Decision {
	passes := b.recorded()
	return passes[len(passes)-1].Decision
}

func (b *bench) Begin(pools.Target) {}
func (b *bench) End(string)         {}

// recommend sets another decision, with a lease of the given length, and with the sizes of other instances.
func (b *bench) recommend(target uint32, revision uint64, lease time.Duration, others ...*poolsv1.TargetSize) {
	b.answer(poolsv1.Basis_BASIS_CURVE, target, revision, lease, others...)
}

// revert sets a decision that takes a change back.
func (b *bench) revert(target uint32, revision uint64, lease time.Duration) {
	b.answer(poolsv1.Basis_BASIS_REVERT, target, revision, lease)
}

func (b *bench) answer(basis poolsv1.Basis, target uint32, revision uint64, lease time.Duration, others ...*poolsv1.TargetSize) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.superseded
	b.superseded = make(chan struct{})
	b.snapshot = watch.Snapshot{
		ReceivedAt: time.Now(), Superseded: b.superseded,
		Sizes: map[pool.Key]*poolsv1.PoolSize{cart: {
			Pool: cart.Proto(), Action: commonv1.Action_ACTION_APPLY, Basis: basis, Target: &target, Revision: revision,
			ValidUntil: timestamppb.New(time.Now().Add(lease)), Sizes: others,
		}},
	}
	if before != nil {
		close(before)
	}
}

// start runs a loop on a pool of 64; maxFactor bounds one write, 100 without it.
func start(t *testing.T, apply bool, maxFactor ...float64) *bench {
	return startWith(t, apply, func(*pools.Loop) {}, maxFactor...)
}

// applying runs a test on fake time, with a target that applies decisions in steps of this factor and whose size was reported.
func applying(t *testing.T, maxFactor float64, test func(t *testing.T, b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, true, maxFactor)
		b.reportsSent()
		test(t, b)
	})
}

// startWith lets a test change the loop before it runs.
func startWith(t *testing.T, apply bool, change func(*pools.Loop), maxFactor ...float64) *bench {
	return startOn(t, pools.Target{Rules: policy.Rules{Apply: apply}}, change, maxFactor...)
}

// startIn is a target of a pod, opted in.
func startIn(t *testing.T, pod string, change func(*pools.Loop)) *bench {
	return startOn(t, pools.Target{Object: discover.Object{Name: pod}, Rules: policy.Rules{Apply: true}}, change)
}

// startOn fills in the target.
func startOn(t *testing.T, target pools.Target, change func(*pools.Loop), maxFactor ...float64) *bench {
	b := &bench{fake: realizetest.NewFake(64), done: make(chan struct{}), superseded: make(chan struct{})}
	b.snapshot.Superseded = b.superseded
	maxFactor = append(maxFactor, 100)
	l := &pools.Loop{
		Actuator: "bench", Interval: 2 * time.Second, Grace: 3 * time.Second,
		Source: b, Reporter: b, Recorder: b, Log: slog.New(slog.NewTextHandler(&b.logs, nil)),
	}
	change(l)
	ctx, cancel := context.WithCancel(t.Context())
	b.cancel = cancel
	target.Name, target.Instance, target.Pool, target.Settle, target.Realizer = "cart.threads", "cart-7", cart, 5*time.Second, b.fake
	target.Rules = policy.Rules{Apply: target.Rules.Apply, Min: 2, Max: 128, MaxFactor: maxFactor[0], Cooldown: 10 * time.Second}
	go func() { l.Run(ctx, []pools.Target{target}, nil); close(b.done) }()
	t.Cleanup(func() { cancel(); <-b.done })
	synctest.Wait()
	return b
}

// advance lets fake time pass, and runs everything that falls due in it.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// reportsSent returns the reports since the last call: "OBSERVED 64", "APPLIED 64>12=12", "FAILED 64>12=?".
func (b *bench) reportsSent() string {
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

// settleAfter is a target that takes a write at once and has the size in force later.
func settleAfter(fake *realizetest.Fake, late time.Duration) func(uint32) error {
	return func(size uint32) error {
		time.AfterFunc(late, func() { fake.SetSize(size) })
		return nil
	}
}

func (b *bench) want(t *testing.T, want string) {
	t.Helper()
	if got := b.reportsSent(); got != want {
		t.Errorf("reports %q, want %q", got, want)
	}
}
