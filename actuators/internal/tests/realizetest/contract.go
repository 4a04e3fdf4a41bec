// Package realizetest holds the suite that every realize.Realizer runs, and a hand-written fake.
package realizetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/realize"
)

// Fixture is a realizer and the controls of the target behind it.
type Fixture struct {
	Realizer realize.Realizer
	// Size returns the size in force at the target, by another way than the realizer's.
	Size func() uint32
	// SetSize sets the size, as an operator would.
	SetSize func(uint32)
	// Unbound removes the limit; nil where the target always has one.
	Unbound func()
	// SetUse sets the busy and waiting figures. The target stops reporting a nil figure, where it can stop. Nil where the
	// target reports no occupancy.
	SetUse func(pool.Use)
	// ReportsWaiting: the target also reports how many callers wait.
	ReportsWaiting bool
	// Break makes the target fail every request from now on.
	Break func()
	// Stall makes the target never respond from now on.
	Stall func()
}

// TestContract runs the suite; open makes a fresh target with a pool of 64.
func TestContract(t *testing.T, open func(t *testing.T) Fixture) {
	ctx := context.Background()

	t.Run("reads what is in force", func(t *testing.T) {
		f := open(t)
		wantRead(t, f, 64)
		f.SetSize(17)
		wantRead(t, f, 17)
	})
	t.Run("writes, and reads back what was written", func(t *testing.T) {
		f := open(t)
		for _, size := range []uint32{12, 12, 1, 100} {
			if err := f.Realizer.Write(ctx, size); err != nil {
				t.Fatalf("Write(%d): %v", size, err)
			}
			if got := f.Size(); got != size {
				t.Fatalf("after Write(%d) the target has %d", size, got)
			}
			wantRead(t, f, size)
		}
	})
	t.Run("never writes 0", func(t *testing.T) {
		f := open(t)
		if err := f.Realizer.Write(ctx, 0); err == nil {
			t.Error("Write(0): want an error")
		}
		if got := f.Size(); got != 64 {
			t.Errorf("after Write(0) the target has %d, want 64", got)
		}
	})
	t.Run("a size of 0 is an error", func(t *testing.T) {
		f := open(t)
		f.SetSize(0)
		wantReadError(t, ctx, f)
	})
	t.Run("a pool without a limit is unbounded, until it is given one", func(t *testing.T) {
		f := open(t)
		if f.Unbound == nil {
			t.Skip("the target always has a limit")
		}
		f.Unbound()
		if got, _, err := f.Realizer.Read(ctx); err != nil || got != pool.Unbounded {
			t.Fatalf("Read() = %v, %v, want unbounded", got, err)
		}
		if err := f.Realizer.Write(ctx, 12); err != nil {
			t.Fatalf("Write(12): %v", err)
		}
		wantRead(t, f, 12)
	})
	t.Run("tells what is in use with the size", func(t *testing.T) {
		f := open(t)
		if f.SetUse == nil {
			wantUse(t, f, nil, nil)
			return
		}
		for _, n := range []int64{24, 0, 64} {
			waiting := pool.Count(n / 8)
			f.SetUse(pool.Use{Busy: pool.Count(n), Waiting: waiting})
			if !f.ReportsWaiting {
				waiting = nil
			}
			wantUse(t, f, pool.Count(n), waiting)
		}
	})
	t.Run("what is not told is not 0, and no error", func(t *testing.T) {
		f := open(t)
		if f.SetUse == nil {
			t.Skip("the target never tells")
		}
		f.SetUse(pool.Use{})
		wantUse(t, f, nil, nil)
	})
	t.Run("a broken target is an error, not a size", func(t *testing.T) {
		f := open(t)
		wantRead(t, f, 64)
		f.Break()
		wantReadError(t, ctx, f)
		if err := f.Realizer.Write(ctx, 12); err == nil {
			t.Error("Write(12): want an error")
		}
		if got := f.Size(); got != 64 {
			t.Errorf("the broken target has %d, want 64", got)
		}
	})
	t.Run("ends when the context does", func(t *testing.T) {
		f := open(t)
		f.Stall()
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		wantReadError(t, short, f)
		if err := f.Realizer.Write(short, 12); err == nil {
			t.Error("Write(12) at a target that never answers: want an error")
		}
		if took := time.Since(began); took > 30*time.Second { // it would be silent for a minute
			t.Errorf("took %s after a context of 50 ms", took)
		}
	})
	t.Run("serves several goroutines", func(t *testing.T) {
		f := open(t)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for size := uint32(1); size <= 8; size++ {
					if err := f.Realizer.Write(ctx, size); err != nil {
						t.Errorf("Write(%d): %v", size, err)
					}
					if got, _, err := f.Realizer.Read(ctx); err != nil || got.Limit < 1 || got.Limit > 8 {
						t.Errorf("Read() = %v, %v, want 1..8", got, err)
					}
				}
			})
		}
		all.Wait()
	})
}

func wantRead(t *testing.T, f Fixture, want uint32) {
	t.Helper()
	got, _, err := f.Realizer.Read(context.Background())
	if err != nil || got != pool.Of(want) {
		t.Fatalf("Read() = %v, %v, want %d", got, err, want)
	}
}

func wantReadError(t *testing.T, ctx context.Context, f Fixture) {
	t.Helper()
	if got, use, err := f.Realizer.Read(ctx); err == nil || got != (pool.Size{}) || use != (pool.Use{}) {
		t.Errorf("Read() = %v, %v, %v, want nothing and an error", got, use, err)
	}
}

func wantUse(t *testing.T, f Fixture, busy, waiting *uint32) {
	t.Helper()
	size, use, err := f.Realizer.Read(context.Background())
	if err != nil || size != pool.Of(64) || !same(use.Busy, busy) || !same(use.Waiting, waiting) {
		t.Fatalf("Read() = %v, %v, %v, want 64, %v", size, use, err, pool.Use{Busy: busy, Waiting: waiting})
	}
}

func same(a, b *uint32) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
