package watch

import (
	"context"
	"time"

	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/table"

	commonv1 "sluice.dev/api/common/v1"
)

// Patience bounds a server's wait for records before a token's position.
const Patience = 5 * time.Second

// End returns the offsets after the last committed records of the journal's shards.
type End func(context.Context) ([]int64, error)

// Watch is one watcher. It holds a position and no events, so that a slow watcher needs no memory: when it can receive more,
// it gets the newest state of that time.
type Watch[K table.Key[K], V any] struct {
	Table   *table.Table[K, V]
	Filter  *Filter[K]
	Encoder Encoder[K, V]
	Send    func(*Frame) error
	End     End
	// Stopping is closed when the server ends its watches.
	Stopping <-chan struct{}

	cursor []int64
	done   <-chan struct{}
	// Keys of View.Kept. A number that is made a key at each event is an allocation for each watcher.
	heartbeatKey, shardsKey any
}

// Run returns when the caller is gone, or with the watch's last error.
func (w *Watch[K, V]) Run(ctx context.Context, token *Token) error {
	w.done, w.heartbeatKey, w.shardsKey = ctx.Done(), w.Filter.ID, shardsKey(w.Filter.ID)
	view, why, err := w.start(ctx, token)
	if err != nil {
		return err
	}
	if why == commonv1.Resumption_RESUMPTION_UNSPECIFIED {
		w.cursor = token.Offsets
		err = w.sendChanges(view)
	} else {
		err = w.sendState(view, why)
	}
	for err == nil {
		if err = w.Send(w.heartbeat(view, time.Now())); err != nil {
			break
		}
		if view, err = w.next(ctx, view); err == nil {
			err = w.sendChanges(view)
		}
	}
	return err
}

// sendState sends the state of view.
func (w *Watch[K, V]) sendState(view *table.View[K, V], why commonv1.Resumption) (err error) {
	answers := 0
	w.cursor = make([]int64, len(view.Shards))
	for i, shard := range view.Shards {
		shard.Since(0, func(e *table.Entry[K, V]) bool {
			if e.Deleted || !w.Filter.Selects(e.Key) || w.Table.Moved(e) {
				return true
			}
			answers++
			err = w.Send(w.Encoder.publication(e, shard.Lease))
			return err == nil
		})
		if err != nil {
			return err
		}
		w.cursor[i] = shard.Position
	}
	snapshot := &commonv1.Snapshot{Answers: uint32(answers), Resumption: why}
	return w.Send(w.Encoder.snapshot(snapshot, w.token(view, time.Now()).String()))
}

// sendChanges sends the records after the cursor, and moves it to view.
func (w *Watch[K, V]) sendChanges(view *table.View[K, V]) (err error) {
	for i, shard := range view.Shards {
		if shard.Position <= w.cursor[i] {
			continue
		}
		since(w.Filter, shard, w.cursor[i], func(e *table.Entry[K, V]) bool {
			if w.Filter.Selects(e.Key) && !w.Table.Moved(e) {
				err = w.Send(w.Encoder.publication(e, shard.Lease))
			}
			return err == nil
		})
		if err != nil {
			return err
		}
		w.cursor[i] = shard.Position
	}
	return nil
}

// next waits for a view with an event for this watcher. It returns at once if records were published during the last
// sending.
func (w *Watch[K, V]) next(ctx context.Context, last *table.View[K, V]) (*table.View[K, V], error) {
	if err := w.endError(); err != nil {
		return nil, err
	}
	for view := last; ; {
		select { // two cases: with 10,000 watchers each further one is a millisecond
		case <-view.Next():
		case <-w.done:
			return nil, ctx.Err()
		}
		if err := w.endError(); err != nil {
			return nil, err
		}
		view = w.Table.View()
		if view.Tick || w.behind(view) {
			return view, nil
		}
	}
}

// endError is the error that ends a watch. A tick wakes watches before their end. Each channel has its own select, which takes no
// lock; one over both takes the locks of both, which all watchers share.
func (w *Watch[K, V]) endError() error {
	select {
	case <-w.Table.Closed():
		return problem.Unavailable(problem.LogReplaced, "another journal replaced this one: watch again")
	default:
	}
	select {
	case <-w.Stopping:
		return problem.Unavailable(problem.Stopping, "the server stops: watch again with the resume token")
	default:
	}
	return nil
}

// behind is true if the watch has not sent all records of view.
func (w *Watch[K, V]) behind(view *table.View[K, V]) bool {
	for _, shard := range w.filterShardsOnce(view) {
		if shard.Position > w.cursor[shard.Number] {
			return true
		}
	}
	return false
}
