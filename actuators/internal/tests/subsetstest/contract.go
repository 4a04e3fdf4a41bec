// Package subsetstest holds the suite that every subsets.Realizer runs.
package subsetstest

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice.dev/actuators/internal/subsets"
)

// Fixture is a realizer and the controls of the place behind it.
type Fixture struct {
	Realizer subsets.Realizer
	// Members are four addresses that can be in force.
	Members [4]netip.AddrPort
	// Before is the set in force before the first write.
	Before subsets.Set
	// InForce is the set that a caller sees, by another way than the realizer's.
	InForce func() subsets.Set
	// Look is one reading by a caller; it has to see one of the sets, or a part of it.
	Look func(either ...subsets.Set) error
	// Lose removes the set in force, as an operator would.
	Lose func()
	// Break makes everything fail from now on.
	Break func()
	// Stall stops all responses from now on; nil where the realizer waits for none.
	Stall func()
}

// Of makes a set of the fixture's members with these weights; a member with weight 0 is left out.
func (f Fixture) Of(t *testing.T, weights ...uint32) subsets.Set {
	t.Helper()
	var members []subsets.Member
	for i, weight := range weights {
		if weight > 0 {
			members = append(members, subsets.Member{Address: f.Members[i], Weight: weight})
		}
	}
	set, err := subsets.NewSet(members)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestContract runs the suite; open makes a fresh fixture.
func TestContract(t *testing.T, open func(t *testing.T) Fixture) {
	t.Run("reads what is in force", func(t *testing.T) {
		f := open(t)
		f.want(t, f.Before)
	})
	t.Run("writes, and reads back what was written", func(t *testing.T) {
		f := open(t)
		for _, weights := range [][]uint32{{2, 1}, {2, 1}, {1}, {0, 0, 3, 2}, {1, 1, 1, 1}} {
			set := f.Of(t, weights...)
			f.write(t, set)
			f.want(t, set)
		}
	})
	t.Run("never writes an empty set", func(t *testing.T) {
		f := open(t)
		set := f.Of(t, 1, 2)
		f.write(t, set)
		for _, empty := range []subsets.Set{nil, {}} {
			if err := f.Realizer.Write(t.Context(), empty); err == nil {
				t.Error("an empty set was written")
			}
		}
		f.want(t, set)
	})
	t.Run("what somebody took away is not in force", func(t *testing.T) {
		f := open(t)
		f.write(t, f.Of(t, 1, 2))
		f.Lose()
		if got, err := f.Realizer.Read(t.Context()); err != nil || len(got) != 0 {
			t.Errorf("Read() = %s, %v, want nothing", got, err)
		}
		set := f.Of(t, 2, 1)
		f.write(t, set)
		f.want(t, set)
	})
	t.Run("removes what it wrote, once or twice", func(t *testing.T) {
		f := open(t)
		f.remove(t)
		f.want(t, f.Before)
		f.write(t, f.Of(t, 1, 2))
		f.write(t, f.Of(t, 2, 1))
		f.remove(t)
		f.want(t, f.Before)
		f.remove(t)
		f.want(t, f.Before)
		set := f.Of(t, 1)
		f.write(t, set)
		f.want(t, set)
	})
	t.Run("a caller sees one set or the other", func(t *testing.T) {
		f := open(t)
		one, other := f.Of(t, 1, 2), f.Of(t, 0, 0, 2, 1)
		f.write(t, one)
		done := make(chan struct{})
		var looking sync.WaitGroup
		looks := 0
		looking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := f.Look(one, other); err != nil {
					t.Errorf("look %d: %v", looks, err)
					return
				}
				looks++
			}
		})
		for i := range 24 {
			f.write(t, []subsets.Set{other, one}[i%2])
		}
		close(done)
		looking.Wait()
		if looks == 0 {
			t.Error("nobody looked")
		}
		f.want(t, one)
	})
	t.Run("what is broken is an error, and no set", func(t *testing.T) {
		f := open(t)
		f.write(t, f.Of(t, 1, 2))
		f.Break()
		if got, err := f.Realizer.Read(t.Context()); err == nil {
			t.Errorf("Read() = %s: want an error", got)
		}
		if err := f.Realizer.Write(t.Context(), f.Of(t, 1)); err == nil {
			t.Error("Write(): want an error")
		}
	})
	t.Run("ends when the context does", func(t *testing.T) {
		f := open(t)
		short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if f.Stall == nil {
			cancel()
		} else {
			f.Stall()
		}
		began := time.Now()
		if got, err := f.Realizer.Read(short); err == nil {
			t.Errorf("Read() = %s: want an error", got)
		}
		if err := f.Realizer.Write(short, f.Of(t, 1)); err == nil {
			t.Error("Write(): want an error")
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %s after a context of 50 ms", took)
		}
	})
	t.Run("serves several goroutines", func(t *testing.T) {
		f := open(t)
		sets := []subsets.Set{f.Of(t, 1, 2), f.Of(t, 2, 1), f.Of(t, 0, 0, 1)}
		var all sync.WaitGroup
		for _, set := range sets {
			all.Go(func() {
				for range 5 {
					if err := f.Realizer.Write(t.Context(), set); err != nil {
						t.Errorf("Write(): %v", err)
					}
					got, err := f.Realizer.Read(t.Context())
					if err != nil || !strings.Contains(sets[0].String()+"; "+sets[1].String()+"; "+sets[2].String(), got.String()) {
						t.Errorf("Read() = %s, %v, want one of %v", got, err, sets)
					}
				}
			})
		}
		all.Wait()
	})
}

func (f Fixture) write(t *testing.T, set subsets.Set) {
	t.Helper()
	if err := f.Realizer.Write(t.Context(), set); err != nil {
		t.Fatalf("Write(%s): %v", set, err)
	}
}

func (f Fixture) remove(t *testing.T) {
	t.Helper()
	if err := f.Realizer.Remove(t.Context()); err != nil {
		t.Fatalf("Remove(): %v", err)
	}
}

// want checks the set that Read returns, and the one that a caller sees.
func (f Fixture) want(t *testing.T, set subsets.Set) {
	t.Helper()
	if got, err := f.Realizer.Read(t.Context()); err != nil || !got.Equal(set) {
		t.Fatalf("Read() = %s, %v, want %s", got, err, set)
	}
	if got := f.InForce(); !got.Equal(set) {
		t.Fatalf("in force: %s, want %s", got, set)
	}
}
