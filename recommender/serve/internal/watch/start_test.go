package watch

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/table"

	poolsv1 "sluice.dev/api/pools/v1"
)

func TestACallersOwnDeadlineIsNotBlamedOnTheServer(t *testing.T) {
	topic := table.Topic{1}
	end := func(context.Context) ([]int64, error) { return []int64{9}, nil }
	slow := func(ctx context.Context) ([]int64, error) { <-ctx.Done(); return nil, ctx.Err() }
	for name, end := range map[string]End{"while it waits": end, "while it asks for the end": slow} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		w := &Watch[keys.Pool, *poolsv1.PoolSize]{
			Table: table.New(table.PoolKind, topic, 1, time.Hour, time.Now), Filter: &Filter[keys.Pool]{}, Encoder: PoolEncoder, End: end,
		}
		err := w.Run(ctx, &Token{Topic: topic, At: time.Now(), Offsets: []int64{9}})
		if status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("%s: %v", name, err)
		}
	}
}
