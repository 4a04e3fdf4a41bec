// Package holds keeps targets for this process: the recommender's servers say, by the order of their log, who of several
// processes writes one, on whatever hosts these are.
package holds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"

	"sluice.dev/actuators/internal/loop"
	"sluice.dev/actuators/internal/realize"
	poolsv1 "sluice.dev/api/pools/v1"
)

// A hold is renewed at half of its time. At three quarters its holder writes no more, and who waits has it at the end: in
// the last quarter a write that was under way ends, and brokers' clocks may differ by it.
func renewAfter(lease time.Duration) time.Duration { return lease / 2 }
func safeFor(lease time.Duration) time.Duration    { return lease * 3 / 4 }

// Client is the one call; poolsv1.PoolSizeServiceClient is one.
type Client interface {
	HoldTargets(context.Context, *poolsv1.HoldTargetsRequest, ...grpc.CallOption) (*poolsv1.HoldTargetsResponse, error)
}

// Keeper claims all targets that are opted in and that other hosts reach, with one call for all of them. It implements
// loop.Owner and loop.Recorder.
type Keeper struct {
	client Client
	// holder is a name that no other process has, host what loopback addresses are of.
	holder, host   string
	lease, timeout time.Duration
	log            *slog.Logger

	mu sync.Mutex
	// wanted are the targets by key, keys the key of each by its name.
	wanted map[string]*wanted
	keys   map[string]string
	// left are keys that are not wanted any more, to be released.
	left map[string]bool
	wake chan struct{}
	// unknown: the server has never known the call; answered: one has.
	unknown, answered bool
}

// wanted is one target, under one name or more.
type wanted struct {
	names map[string]bool
	// safe is until when it may be written, by this process's clock.
	safe time.Time
	// fault says who else has it, or why nobody knows; asked is closed once there is an answer, or none to be had.
	fault error
	asked chan struct{}
}

// New asks nothing before Run. timeout bounds each call.
func New(client Client, holder, host string, lease, timeout time.Duration, log *slog.Logger) *Keeper {
	return &Keeper{
		client: client, holder: holder, host: host, lease: lease, timeout: timeout, log: log,
		wanted: map[string]*wanted{}, keys: map[string]string{}, left: map[string]bool{}, wake: make(chan struct{}, 1),
	}
}

// Claim implements loop.Owner: nil while the target is this process's to write. It waits for the first answer only.
func (k *Keeper) Claim(ctx context.Context, t loop.Target) error {
	reached, ok := t.Realizer.(realize.Reached)
	if !ok || !t.Rules.Apply {
		return nil
	}
	return k.ClaimKey(ctx, t.Name, reached.Key(k.host))
}

// ClaimKey is Claim of what a key names, wanted under a name.
func (k *Keeper) ClaimKey(ctx context.Context, name, key string) error {
	if key == "" {
		return nil
	}
	w := k.want(name, key)
	select {
	case <-w.asked:
	case <-ctx.Done():
	case <-time.After(2*k.timeout + gather):
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.unknown || time.Now().Before(w.safe):
		return nil
	case w.fault != nil:
		return w.fault
	default:
		return errors.New("who has the target is not known: the recommender did not answer yet")
	}
}

func (k *Keeper) want(name, key string) *wanted {
	k.mu.Lock()
	defer k.mu.Unlock()
	if before, named := k.keys[name]; named && before != key {
		k.drop(name)
	}
	w := k.wanted[key]
	if w == nil {
		w = &wanted{names: map[string]bool{}, asked: make(chan struct{})}
		k.wanted[key] = w
		delete(k.left, key)
		k.rouse()
	}
	w.names[name], k.keys[name] = true, key
	return w
}

// drop ends what a name wants.
func (k *Keeper) drop(name string) {
	key, named := k.keys[name]
	if !named {
		return
	}
	delete(k.keys, name)
	w := k.wanted[key]
	if delete(w.names, name); len(w.names) > 0 {
		return
	}
	delete(k.wanted, key)
	if !w.safe.IsZero() {
		k.left[key] = true
		k.rouse()
	}
}

func (k *Keeper) rouse() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Record implements loop.Recorder.
func (k *Keeper) Record(loop.Pass) {}

// Begin implements loop.Recorder.
func (k *Keeper) Begin(loop.Target) {}

// End implements loop.Recorder: the target is not this process's any more.
func (k *Keeper) End(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(name)
}

// Release gives up what this process has, so that another need not wait. Run has returned.
func (k *Keeper) Release(ctx context.Context) {
	k.mu.Lock()
	for key, w := range k.wanted {
		if !w.safe.IsZero() {
			k.left[key] = true
		}
	}
	k.wanted, k.keys = map[string]*wanted{}, map[string]string{}
	k.mu.Unlock()
	if _, err := k.ask(ctx); err != nil {
		k.log.Warn("targets are not given up: another has to wait for their leases", "error", err)
	}
}

// foreign is who has a target.
func foreign(hold *poolsv1.Hold) error {
	as := ""
	if hold.GetBy() != "" {
		as = " (" + hold.GetBy() + ")"
	}
	return fmt.Errorf("%s%s has the target", hold.GetHolder(), as)
}
