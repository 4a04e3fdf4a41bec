package calls

import (
	"context"

	"google.golang.org/grpc/codes"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// ExplainPair implements the service.
func (s Subsets) ExplainPair(ctx context.Context, request *subsetsv1.ExplainPairRequest) (*subsetsv1.ExplainPairResponse, error) {
	pair, err := problem.Pair(request.GetPair(), "pair")
	if err != nil {
		return nil, err
	}
	reading, err := s.read()
	if err != nil {
		return nil, err
	}
	explanation := &subsetsv1.PairExplanation{}
	ok, err := s.fetch(ctx, reading, pair.Record(), explanation)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, problem.New(codes.NotFound, problem.PairUnknown, "no plan has connections of "+pair.String(), "pair", pair.String())
	}
	response := &subsetsv1.ExplainPairResponse{Explanation: explanation}
	if explanation.GetApplication() == "" {
		return response, nil
	}
	run := &subsetsv1.Run{}
	if ok, err = s.fetch(ctx, reading, keys.Application(explanation.GetApplication()), run); ok {
		response.Run = run
	}
	return response, err
}
