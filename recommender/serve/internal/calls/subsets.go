package calls

import (
	"context"

	"google.golang.org/grpc/codes"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/table"
	"sluice.dev/serve/internal/topics"
	"sluice.dev/serve/internal/watch"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Subsets is SubsetService, from the same reading as pools.
type Subsets struct {
	subsetsv1.UnimplementedSubsetServiceServer
	*Service
}

// entry is the newest subset of a request.
func (s Subsets) entry(key *subsetsv1.SubsetKey, field string) (*table.Subset, *topics.Reading, error) {
	subset, err := problem.Subset(key, field)
	if err != nil {
		return nil, nil, err
	}
	reading, err := s.read()
	if err != nil {
		return nil, nil, err
	}
	e, _ := reading.Tables.Subsets.Get(subset)
	if e == nil {
		return nil, nil, problem.New(codes.NotFound, problem.SubsetUnknown,
			"no subset of "+subset.String()+" is known", "subset", subset.String())
	}
	return e, reading, nil
}

// GetSubset implements the service.
func (s Subsets) GetSubset(_ context.Context, request *subsetsv1.GetSubsetRequest) (*subsetsv1.GetSubsetResponse, error) {
	e, _, err := s.entry(request.GetKey(), "key")
	if err != nil {
		return nil, err
	}
	return &subsetsv1.GetSubsetResponse{Subset: e.Publication}, nil
}

// ListSubsets implements the service.
func (s Subsets) ListSubsets(_ context.Context, request *subsetsv1.ListSubsetsRequest) (*subsetsv1.ListSubsetsResponse, error) {
	filter, err := subsetFilter(request)
	if err != nil {
		return nil, err
	}
	reading, err := s.read()
	if err != nil {
		return nil, err
	}
	filterKey := keys.Subset{Upstream: request.GetUpstream(), Instance: request.GetInstance(), Downstream: request.GetDownstream()}
	page, next, _, err := selectPage(reading.Tables.Subsets, request, keys.ParseSubset, filterKey.Record(), mostBytes, filter.Selects)
	if err != nil {
		return nil, err
	}
	response := &subsetsv1.ListSubsetsResponse{NextPageToken: next}
	for _, e := range page {
		response.Subsets = append(response.Subsets, e.Publication)
	}
	return response, nil
}

// WatchSubsets implements the service.
func (s Subsets) WatchSubsets(request *subsetsv1.WatchSubsetsRequest, stream subsetsv1.SubsetService_WatchSubsetsServer) error {
	filter, err := subsetFilter(request)
	if err != nil {
		return err
	}
	return runWatch(s.Service, request.GetResumeToken(), stream, func(reading *topics.Reading) watch.Watch[keys.Subset, *subsetsv1.Subset] {
		return watch.Watch[keys.Subset, *subsetsv1.Subset]{Table: reading.Tables.Subsets, Filter: filter, Encoder: watch.SubsetEncoder}
	})
}

// subsetSelector is a request for some subsets.
type subsetSelector interface {
	GetUpstream() string
	GetInstance() string
	GetDownstream() string
}

func subsetFilter(request subsetSelector) (*watch.Filter[keys.Subset], error) {
	if err := firstOf(
		checkName("upstream", request.GetUpstream(), "the calling service, or empty", false),
		checkName("instance", request.GetInstance(), "a container of the upstream service, or empty", false),
		checkName("downstream", request.GetDownstream(), "the called service, or empty", false),
	); err != nil {
		return nil, err
	}
	return watch.SubsetFilter(request.GetUpstream(), request.GetInstance(), request.GetDownstream()), nil
}
