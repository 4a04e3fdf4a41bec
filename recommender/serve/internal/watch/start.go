package watch

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/status"

	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/table"

	commonv1 "sluice.dev/api/common/v1"
)

// start is the view to begin with, and the reason for sending everything; UNSPECIFIED if changes suffice.
func (w *Watch[K, V]) start(ctx context.Context, token *Token) (*table.View[K, V], commonv1.Resumption, error) {
	view := w.Table.View()
	why := token.resumption(view.Topic, len(view.Shards), w.Filter.ID, w.Table.Retention(), time.Now())
	if why != commonv1.Resumption_RESUMPTION_UNSPECIFIED || !ahead(token, view) {
		return view, why, nil
	}
	return w.wait(ctx, token)
}

// wait handles a token that is ahead of this server: the server is behind, or the journal lost its end.
func (w *Watch[K, V]) wait(caller context.Context, token *Token) (*table.View[K, V], commonv1.Resumption, error) {
	ctx, cancel := context.WithTimeout(caller, Patience)
	defer cancel()
	end, err := w.End(ctx)
	if caller.Err() != nil {
		return nil, 0, status.FromContextError(caller.Err()).Err()
	}
	if err != nil {
		return nil, 0, problem.Unavailable(problem.LogAway, fmt.Sprintf("cannot read the end of the journal: %v", err))
	}
	for i, offset := range token.Offsets {
		if offset > end[i] {
			return w.Table.View(), commonv1.Resumption_RESUMPTION_PAST_END, nil
		}
	}
	for {
		view := w.Table.View()
		if !ahead(token, view) {
			return view, commonv1.Resumption_RESUMPTION_UNSPECIFIED, nil
		}
		if err := w.endError(); err != nil {
			return nil, 0, err
		}
		select {
		case <-view.Next():
		case <-ctx.Done():
			if caller.Err() != nil {
				return nil, 0, status.FromContextError(caller.Err()).Err()
			}
			return nil, 0, problem.Unavailable(problem.BehindToken,
				"this server has not read as far as the resume token: try again, or another server")
		}
	}
}
