package pools

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/state"
	"sluice.dev/actuators/internal/reconcile"
)

// A write has these steps, in this order: store the intent, write the size, read it back, store the end, report the end, and
// forget it once the recommender took the report. A process that ends within these steps leaves an intent or an end. Its
// successor resolves the intent by the size that it reads, or sends the report of the end again.

// undoWithin is the greatest age of an intent whose write is undone: later, nobody knows who set the size in force.
const undoWithin = 10 * time.Minute

func (w *worker) intent(size uint32, previous pool.Size, revision uint64) state.Intent {
	return state.Intent{ID: rand.Text(), At: time.Now(), Size: size, Previous: previous, Revision: revision}
}

// begin stores the intent, and the size before the first write.
func (w *worker) begin(intent state.Intent) error {
	return w.Book.Update(w.Name, func(r state.Record) state.Record {
		if r.Original == nil && !intent.Restore {
			r.Original = &intent.Previous
		}
		r = r.Leave(intent.Previous)
		r.Writes = r.Writes.Next(intent.Size, intent.At).Spend(w.Rules.PerHour, intent.At)
		r.Intent = &intent
		return r
	})
}

// sizing is the write of a size to the target. It needs no reading back once superseded is true.
func (w *worker) sizing(size uint32, superseded func() bool) reconcile.Write[pool.Size] {
	return reconcile.Write[pool.Size]{
		Write: func(ctx context.Context) error { return w.Realizer.Write(ctx, size) },
		Read: func(ctx context.Context) (pool.Size, error) {
			read, _, err := w.Realizer.Read(ctx)
			return read, err
		},
		Reached: func(read pool.Size) bool { return read == pool.Of(size) },
		Settle:  w.Settle, Superseded: superseded,
	}
}

// write writes the intended size and waits until it is in force, or until `settle` is over.
func (w *worker) write(ctx context.Context, intent state.Intent) state.Ended {
	takenBack := func() bool {
		answer := w.Source.Latest().Answer(w.Pool)
		return policy.TakesBack(answer) && answer.GetRevision() != intent.Revision
	}
	written := w.sizing(intent.Size, takenBack).Put(ctx)
	inForce := written.Write == nil && written.Read == nil && written.Value == pool.Of(intent.Size)
	if ctx.Err() != nil && !inForce {
		// The process has to stop and does not know the end: the next process replaces this report by its own.
		return state.Ended{
			Intent: intent, Outcome: reconcile.Failed, ReadBack: written.Value, Done: time.Now(),
			Detail: "the actuator stopped during the write: " + errors.Join(written.Write, written.Read, context.Cause(ctx)).Error(),
		}
	}
	switch took := time.Since(intent.At).Round(time.Millisecond); {
	case written.Write != nil:
		return w.end(intent, reconcile.Failed, written.Value, written.Write.Error())
	case written.Read != nil:
		return w.end(intent, reconcile.Failed, written.Value, "read back: "+written.Read.Error())
	case !inForce:
		return w.end(intent, reconcile.Failed, written.Value, fmt.Sprintf("read back %s after %s, want %d", written.Value, took, intent.Size))
	default:
		return w.end(intent, reconcile.Applied, written.Value, fmt.Sprintf("in force after %s", took))
	}
}

// end stores how a write ended. When that fails, the next pass, or the next process, resolves the intent.
func (w *worker) end(intent state.Intent, outcome reconcile.Outcome, readBack pool.Size, detail string) state.Ended {
	ended := state.Ended{Intent: intent, Outcome: outcome, ReadBack: readBack, Detail: detail, Done: time.Now()}
	err := w.Book.Update(w.Name, func(r state.Record) state.Record {
		r.Writes = r.Writes.Read(readBack)
		return r.End(ended)
	})
	if err != nil {
		w.Log.Error("cannot store the end of a write", "target", w.Name, "error", err)
	}
	return ended
}

// resolve ends an intent that an earlier process left: the intended size is in force, or the previous one is written back.
// Error: the target cannot be read; the intent stays.
func (w *worker) resolve(ctx context.Context, intent state.Intent) (state.Ended, error) {
	current, err := w.sizing(intent.Size, nil).ReadBack(ctx)
	if err != nil {
		return state.Ended{}, err
	}
	const interrupted = "the actuator was restarted during the write"
	conclude := func(outcome reconcile.Outcome, detail string) (state.Ended, error) {
		ended := w.end(intent, outcome, current, detail+interrupted)
		w.reportWrite(ended)
		return ended, nil
	}
	if current == pool.Of(intent.Size) {
		return conclude(reconcile.Applied, "in force: ")
	}
	rules := w.rules(ctx)
	if rules.Apply && !rules.Stopped && rules.Foreign == "" && !intent.Previous.Unbounded && time.Since(intent.At) < undoWithin {
		// Also where the previous size is read: a write may have several steps, and the first may be done.
		undo := w.sizing(intent.Previous.Limit, nil)
		if err := undo.Write(ctx); err != nil {
			return state.Ended{}, err
		}
		if current, err = undo.ReadBack(ctx); err != nil {
			return state.Ended{}, err
		}
	}
	if current == intent.Previous {
		return conclude(reconcile.Reverted, "reverted to "+current.String()+": ")
	}
	return conclude(reconcile.Failed, fmt.Sprintf("read %s, neither %d nor %s as before: ", current, intent.Size, intent.Previous))
}

// writesAt updates the history of writes by a reading, and returns it.
func (w *worker) writesAt(current pool.Size) policy.Writes {
	record, _ := w.Book.Get(w.Name)
	now := time.Now()
	writes := record.Writes.From(now).Read(current).Rest(current, w.Rules.Cooldown, now) // the clock may be set back at runtime
	if writes != record.Writes {
		w.store(func(r state.Record) state.Record { r.Writes = writes; return r })
	}
	return writes
}

// errNothing: a target was never written, or has its original size again.
var errNothing = errors.New("nothing to restore: the state has no original size")

// restore writes the size from before the first write, in one write: it was in force here.
func (w *worker) restore(ctx context.Context) (state.Ended, error) {
	if record := w.recall(); record.Intent != nil {
		if _, err := w.resolve(ctx, *record.Intent); err != nil {
			return state.Ended{}, err
		}
	}
	record, err := w.Book.Get(w.Name)
	switch {
	case err != nil:
		return state.Ended{}, err
	case record.Original == nil:
		return state.Ended{}, errNothing
	case record.Original.Unbounded:
		return state.Ended{}, errors.New("the pool had no limit, which cannot be written: remove the limit by hand")
	}
	claimed := w.Target
	claimed.Rules.Apply = true // a restore is an opt-in
	if err := w.foreign(ctx, claimed); err != nil {
		return state.Ended{}, err
	}
	current, _, err := w.Realizer.Read(ctx)
	if err != nil {
		return state.Ended{}, err
	}
	intent := w.intent(record.Original.Limit, current, 0)
	intent.Restore = true
	if err := w.begin(intent); err != nil {
		return state.Ended{}, err
	}
	ended := w.write(ctx, intent)
	w.reportWrite(ended)
	if ended.Outcome != reconcile.Applied {
		return ended, errors.New(ended.Detail)
	}
	return ended, nil
}
