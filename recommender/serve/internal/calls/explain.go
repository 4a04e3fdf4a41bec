package calls

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"

	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/topics"

	poolsv1 "sluice.dev/api/pools/v1"
)

// logPatience bounds every request to the log, whatever deadline the caller has.
const logPatience = 5 * time.Second

// ExplainPoolSize implements the service.
func (s *Service) ExplainPoolSize(ctx context.Context, request *poolsv1.ExplainPoolSizeRequest) (*poolsv1.ExplainPoolSizeResponse, error) {
	e, view, reading, err := s.entry(request.GetPool(), "pool")
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, logPatience)
	defer cancel()
	explanation := &poolsv1.Explanation{}
	for tries := 0; ; tries++ {
		at, ok := reading.Explanations.Of(e.Key)
		if !ok {
			break // an answer without anything behind it yet
		}
		explanation, err = s.log.Fetch(within, e.Key, at)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// Compaction may have taken it away just now; then a newer one has been read, or is about to be.
		if now, _ := reading.Explanations.Of(e.Key); !errors.Is(err, topics.ErrGone) || tries > 0 && now == at {
			return nil, problem.Of(codes.Unavailable, problem.LogAway, err.Error())
		}
	}
	explanation.PoolSize = answer(e, view, time.Now())
	return &poolsv1.ExplainPoolSizeResponse{Explanation: explanation}, nil
}
