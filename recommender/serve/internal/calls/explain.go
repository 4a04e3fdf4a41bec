package calls

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/topics"

	poolsv1 "sluice.dev/api/pools/v1"
)

// logPatience bounds every request to the journal, also with a later deadline of the caller.
const logPatience = 5 * time.Second

// ExplainPoolSize implements the service.
func (s *Service) ExplainPoolSize(ctx context.Context, request *poolsv1.ExplainPoolSizeRequest) (*poolsv1.ExplainPoolSizeResponse, error) {
	e, view, reading, err := s.entry(request.GetPool(), "pool")
	if err != nil {
		return nil, err
	}
	explanation := &poolsv1.Explanation{}
	if _, err := s.fetch(ctx, reading, e.Key.Record(), explanation); err != nil {
		return nil, err
	}
	explanation.PoolSize = leasedDecision(e, view, time.Now())
	return &poolsv1.ExplainPoolSizeResponse{Explanation: explanation}, nil
}

// fetch reads the newest explanation under a key into a message; false if there is none yet.
func (s *Service) fetch(ctx context.Context, reading *topics.Reading, key string, into proto.Message) (ok bool, err error) {
	within, cancel := context.WithTimeout(ctx, logPatience)
	defer cancel()
	for tries := 0; ; tries++ {
		at, ok := reading.Explanations.Place(key)
		if !ok {
			return false, nil // a decision without an explanation yet
		}
		err := s.store.Fetch(within, key, at, into)
		if err == nil {
			return true, nil
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		// Compaction may have removed it just now; then a newer one has been read, or will be soon.
		if now, _ := reading.Explanations.Place(key); !errors.Is(err, topics.ErrGone) || tries > 0 && now == at {
			return false, problem.New(codes.Unavailable, problem.LogAway, err.Error())
		}
	}
}
