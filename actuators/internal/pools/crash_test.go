package pools_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/state"
	"sluice.dev/actuators/internal/pools/watch"
	"sluice.dev/actuators/internal/tests/realizetest"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// world outlives a process: its disk, the target, the recommender.
type world struct {
	disk state.Memory
	// A pool of two settings, written one after the other; both count.
	first, second uint32
	// reported has, by id, the reported end of each write; intended the ids that were on the disk.
	reported map[string]string
	intended map[string]bool
	faults   []string
}

// life is one process, which is killed at its step `last`; 0 is none.
type life struct {
	*world
	steps, last int
}

func (l *life) step() {
	if l.steps++; l.last > 0 && l.steps >= l.last {
		runtime.Goexit()
	}
}

func (l *life) Load(target string) (state.Record, error) { return l.disk.Load(target) }

func (l *life) Save(target string, record state.Record) error {
	l.step()
	if record.Intent != nil {
		l.intended[record.Intent.ID] = true
	}
	err := l.disk.Save(target, record)
	l.step()
	return err
}

func (l *life) Read(context.Context) (pool.Size, pool.Use, error) {
	l.step()
	return pool.Of(max(l.first, l.second)), pool.Use{}, nil
}

func (l *life) Write(_ context.Context, size uint32) error {
	l.step()
	l.first = size
	l.step()
	l.second = size
	l.step()
	return nil
}

func (l *life) Report(r pools.Report) {
	l.step()
	if id, report := r.Message.GetRequestId(), r.Message.GetActuation(); id != "" {
		ended := strings.TrimPrefix(report.GetOutcome().String(), "ACTUATION_OUTCOME_")
		if strings.HasPrefix(report.GetDetail(), "reverted to 64") {
			ended = "REVERTED"
		}
		if before, again := l.reported[id]; again && before != ended {
			l.faults = append(l.faults, fmt.Sprintf("told %s, and then %s", before, ended))
		}
		if is := fmt.Sprint(l.first, l.second); is != map[string]string{"APPLIED": "32 32", "REVERTED": "64 64"}[ended] {
			l.faults = append(l.faults, fmt.Sprintf("told %s (%s) where the target has %s", ended, report.GetDetail(), is))
		}
		l.reported[id] = ended
	}
	l.step()
	if r.Done != nil {
		r.Done(nil)
	}
}

func (l *life) Latest() watch.Snapshot {
	target := uint32(32)
	return watch.Snapshot{ReceivedAt: time.Now(), Sizes: map[pool.Key]*poolsv1.PoolSize{cart: {
		Pool: cart.Proto(), Action: commonv1.Action_ACTION_APPLY, Target: &target, Revision: 7,
		ValidUntil: timestamppb.New(time.Now().Add(time.Hour)),
	}}}
}

func (l *life) Record(pools.Pass)  {}
func (l *life) Begin(pools.Target) {}
func (l *life) End(string)         {}

// lived runs one process that ends at step `last`, and returns the number of its steps.
func (w *world) lived(last int) int {
	l := &life{world: w, last: last}
	cycle := &pools.Loop{Source: l, Reporter: l, Recorder: l, Log: slog.New(slog.DiscardHandler), Book: state.NewBook(l)}
	cycle.Once(context.Background(), []pools.Target{{
		Name: "cart.threads", Pool: cart, Realizer: l,
		Rules: policy.Rules{Apply: true, Min: 2, Max: 128, MaxFactor: 2, Cooldown: time.Hour},
	}})
	return l.steps
}

// A process is killed at any step of a write, and its successor at any step of its resolution: the write ends as APPLIED or
// as REVERTED, and is reported as the size in force.
func TestKilledAtEachStepOfAWrite(t *testing.T) {
	fresh := func() *world {
		return &world{first: 64, second: 64, reported: map[string]string{}, intended: map[string]bool{}}
	}
	whole := fresh().lived(0)
	if whole < 12 {
		t.Fatalf("a write has %d steps: they are not counted", whole)
	}
	ends := map[string]int{}
	for first := 1; first <= whole; first++ {
		for second := 0; second <= 2*whole; second++ {
			w := fresh()
			w.lived(first)
			if second > 0 {
				w.lived(second)
			}
			w.lived(0)
			record, _ := w.disk.Load("cart.threads")
			name := fmt.Sprintf("killed at step %d, and then at %d", first, second)
			if record.Intent != nil || len(record.Ended) > 0 {
				t.Errorf("%s: %+v is left", name, record)
			}
			if record.Original == nil || *record.Original != pool.Of(64) {
				t.Errorf("%s: original size %v, want 64", name, record.Original)
			}
			for id := range w.intended {
				if w.reported[id] == "" {
					t.Errorf("%s: nobody was told of an intent", name)
				}
				ends[w.reported[id]]++
			}
			for _, fault := range w.faults {
				t.Errorf("%s: %s", name, fault)
			}
		}
	}
	if ends["APPLIED"] == 0 || ends["REVERTED"] == 0 || len(ends) != 2 {
		t.Errorf("ends %v, want both of APPLIED and REVERTED and nothing else", ends)
	}
}

func TestTheCoolDownOutlivesTheProcess(t *testing.T) {
	w := &world{first: 64, second: 64, reported: map[string]string{}, intended: map[string]bool{}}
	w.lived(0)
	w.first, w.second = 64, 64 // by somebody else: put right at once, and then not any more
	w.lived(0)
	w.first, w.second = 64, 64
	w.lived(0)
	if w.first != 64 || len(w.intended) != 2 {
		t.Errorf("size %d after %d writes, want the third one to wait as in one process", w.first, len(w.intended))
	}
}

// full is a disk that takes nothing.
type full struct{ state.Memory }

func (*full) Save(string, state.Record) error { return errors.New("no space left on device") }

func TestNothingIsWrittenWithoutItsIntent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{fake: realizetest.NewFake(64), superseded: make(chan struct{})}
		b.recommend(12, 7, time.Hour)
		l := &pools.Loop{Interval: time.Second, Source: b, Reporter: b, Recorder: b, Log: slog.New(slog.DiscardHandler), Book: state.NewBook(&full{})}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		l.Run(ctx, []pools.Target{{Name: "cart.threads", Pool: cart, Realizer: b.fake,
			Rules: policy.Rules{Apply: true, Min: 2, Max: 128, MaxFactor: 100}}}, nil)
		if detail := b.sent()[0].GetDetail(); !strings.Contains(detail, "no space left") {
			t.Errorf("detail %q, want why", detail)
		}
		b.want(t, "REFUSED 64>12=64, OBSERVED 64")
		if got := b.fake.Written(); got != nil {
			t.Errorf("wrote %v", got)
		}
	})
}
