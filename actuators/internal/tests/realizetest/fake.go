package realizetest

import (
	"context"
	"errors"
	"sync"

	"sluice.dev/actuators/internal/pools/pool"
)

// Fake is a pool in memory.
type Fake struct {
	mu        sync.Mutex
	size      uint32
	unbounded bool
	use       pool.Use
	broken    error
	stalled   bool
	written   []uint32
	onWrite   func(size uint32) error
}

// NewFake returns a pool of the given size that takes every write at once.
func NewFake(size uint32) *Fake { return &Fake{size: size} }

// Read implements realize.Realizer.
func (f *Fake) Read(ctx context.Context) (pool.Size, pool.Use, error) {
	if err := f.ready(ctx); err != nil {
		return pool.Size{}, pool.Use{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unbounded {
		return pool.Unbounded, f.use, nil
	}
	if f.size == 0 {
		return pool.Size{}, pool.Use{}, errors.New("read size: 0: want at least 1")
	}
	return pool.Of(f.size), f.use, nil
}

// Write implements realize.Realizer.
func (f *Fake) Write(ctx context.Context, size uint32) error {
	if size == 0 {
		return errors.New("write size: 0: want at least 1")
	}
	if err := f.ready(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	f.written = append(f.written, size)
	hook := f.onWrite
	if hook == nil {
		f.size, f.unbounded = size, false
	}
	f.mu.Unlock()
	if hook != nil {
		return hook(size)
	}
	return nil
}

func (f *Fake) ready(ctx context.Context) error {
	f.mu.Lock()
	broken, stalled := f.broken, f.stalled
	f.mu.Unlock()
	if stalled {
		<-ctx.Done()
	}
	return errors.Join(broken, ctx.Err())
}

func (f *Fake) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// Size returns the size in force.
func (f *Fake) Size() uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size
}

// SetSize moves the size as an operator would.
func (f *Fake) SetSize(size uint32) { f.change(func() { f.size, f.unbounded = size, false }) }

// SetUse sets the occupancy that is reported with the size from now on.
func (f *Fake) SetUse(use pool.Use) { f.change(func() { f.use = use }) }

// Unbound removes the limit.
func (f *Fake) Unbound() { f.change(func() { f.unbounded = true }) }

// Break makes every call fail with err, until Break(nil).
func (f *Fake) Break(err error) { f.change(func() { f.broken = err }) }

// Stall makes every call wait for the end of its context.
func (f *Fake) Stall() { f.change(func() { f.stalled = true }) }

// OnWrite replaces the effect of a write: to fail, to refuse, or to settle late.
func (f *Fake) OnWrite(hook func(size uint32) error) { f.change(func() { f.onWrite = hook }) }

// Written returns every size that Write took, in order.
func (f *Fake) Written() []uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]uint32(nil), f.written...)
}
