package calls

import (
	"context"
	"encoding/base64"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// PastDecision is a decision from the database, and the time in which it was the newest.
type PastDecision struct {
	Since, Until                             time.Time
	Revision                                 uint64
	State, Basis, Action, Model              string
	Current, Target, Lower, Upper, Unguarded *uint32
	Confidence                               float64
	Reasons                                  []string
}

// History reads earlier decisions from the database.
type History interface {
	// Decisions returns up to n decisions with revisions below before, newest first.
	Decisions(ctx context.Context, pool keys.Pool, before uint64, n int) ([]PastDecision, error)
}

const (
	usualHistory, mostHistory = 100, 1000
	historyPatience           = 10 * time.Second
)

// ListPoolSizeHistory implements the service. It also serves pools that are no longer in the configuration.
func (s *Service) ListPoolSizeHistory(ctx context.Context, request *poolsv1.ListPoolSizeHistoryRequest) (*poolsv1.ListPoolSizeHistoryResponse, error) {
	pool, err := problem.Pool(request.GetPool(), "pool")
	if err != nil {
		return nil, err
	}
	n := int(request.GetPageSize())
	if n < 0 {
		return nil, problem.NotLegal("page_size", n, ">= 0")
	}
	if n == 0 {
		n = usualHistory
	}
	n = min(n, mostHistory)
	before, err := parseBefore(request.GetPageToken())
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, historyPatience)
	defer cancel()
	decisions, err := s.history.Decisions(within, pool, before, n+1)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, problem.New(codes.Unavailable, problem.DatabaseAway, err.Error())
	}
	response := &poolsv1.ListPoolSizeHistoryResponse{}
	if len(decisions) > n {
		decisions = decisions[:n]
		response.NextPageToken = beforeToken(decisions[n-1].Revision)
	}
	for _, decision := range decisions {
		response.Answers = append(response.Answers, decision.message(pool))
	}
	return response, nil
}

func (a PastDecision) message(pool keys.Pool) *poolsv1.ListPoolSizeHistoryResponse_Answer {
	size := &poolsv1.PoolSize{
		Pool:       pool.Proto(),
		State:      poolsv1.State(poolsv1.State_value["STATE_"+a.State]),
		Basis:      poolsv1.Basis(poolsv1.Basis_value["BASIS_"+a.Basis]),
		Action:     commonv1.Action(commonv1.Action_value["ACTION_"+a.Action]),
		Current:    a.Current,
		Target:     a.Target,
		LowerBound: a.Lower, UpperBound: a.Upper, UnguardedTarget: a.Unguarded,
		Confidence: a.Confidence,
		Model:      a.Model,
		ComputedAt: timestamppb.New(a.Since),
		Revision:   a.Revision,
	}
	for _, code := range a.Reasons {
		size.Reasons = append(size.Reasons, &commonv1.Reason{Code: code})
	}
	return &poolsv1.ListPoolSizeHistoryResponse_Answer{
		PoolSize: size, Since: timestamppb.New(a.Since), Until: timestamppb.New(a.Until),
	}
}

func beforeToken(revision uint64) string {
	return base64.RawURLEncoding.EncodeToString([]byte("before:" + strconv.FormatUint(revision, 10)))
}

func parseBefore(token string) (uint64, error) {
	if token == "" {
		return 1<<64 - 1, nil
	}
	if len(token) <= 64 {
		b, err := base64.RawURLEncoding.Strict().DecodeString(token)
		if err == nil && len(b) > 7 {
			if n, err := strconv.ParseUint(string(b[7:]), 10, 64); err == nil && beforeToken(n) == token {
				return n, nil
			}
		}
	}
	return 0, problem.NotLegal("page_token", token, legalPage)
}
