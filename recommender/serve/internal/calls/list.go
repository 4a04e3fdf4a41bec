package calls

import (
	"context"
	"time"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/table"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

const (
	// mostListed bounds a page, and so does mostBytes: gRPC's clients take 4 MiB by default.
	mostListed = 5000
	mostBytes  = 3 << 20
)

// ListPoolSizes implements the service.
func (s *Service) ListPoolSizes(_ context.Context, request *poolsv1.ListPoolSizesRequest) (*poolsv1.ListPoolSizesResponse, error) {
	page, next, view, err := s.decisionPage(request, mostBytes)
	if err != nil {
		return nil, err
	}
	response := &poolsv1.ListPoolSizesResponse{NextPageToken: next}
	now := time.Now()
	for _, e := range page {
		response.PoolSizes = append(response.PoolSizes, leasedDecision(e, view, now))
	}
	return response, nil
}

// ListCandidates implements the service.
func (s *Service) ListCandidates(_ context.Context, request *poolsv1.ListCandidatesRequest) (*poolsv1.ListCandidatesResponse, error) {
	reading, err := s.read()
	if err != nil {
		return nil, err
	}
	service := request.GetService()
	page, next, _, err := selectPage(reading.Tables.Candidates, request, keys.ParsePool, service, mostBytes,
		func(pool keys.Pool) bool { return service == "" || service == pool.Service })
	if err != nil {
		return nil, err
	}
	response := &poolsv1.ListCandidatesResponse{NextPageToken: next}
	for _, e := range page {
		response.Candidates = append(response.Candidates, e.Publication)
	}
	return response, nil
}

// DiffPoolSizes implements the service.
func (s *Service) DiffPoolSizes(_ context.Context, request *poolsv1.DiffPoolSizesRequest) (*poolsv1.DiffPoolSizesResponse, error) {
	// Each change names its pool again: with a name of about 60 bytes a target takes four times as much.
	page, next, view, err := s.decisionPage(request, mostBytes/4)
	if err != nil {
		return nil, err
	}
	response := &poolsv1.DiffPoolSizesResponse{NextPageToken: next}
	now := time.Now()
	for _, e := range page {
		response.Changes = append(response.Changes, sizeChanges(leasedDecision(e, view, now))...)
	}
	return response, nil
}

// sizeChanges are the targets that would get another size, if the decision may be applied.
func sizeChanges(size *poolsv1.PoolSize) (changes []*poolsv1.DiffPoolSizesResponse_Change) {
	if size.GetAction() != commonv1.Action_ACTION_APPLY || size.GetTarget() == 0 {
		return nil
	}
	for _, target := range size.GetSizes() {
		if target.Size != nil && target.GetSize() == size.GetTarget() {
			continue
		}
		changes = append(changes, &poolsv1.DiffPoolSizesResponse_Change{
			Pool: size.GetPool(), Instance: target.GetInstance(), Current: target.Size,
			Target: size.GetTarget(), Revision: size.GetRevision(),
		})
	}
	return changes
}

type listRequest interface {
	pageRequest
	GetService() string
}

func (s *Service) decisionPage(request listRequest, bytes int) (page []*table.Pool, next string, view *poolView, err error) {
	service := request.GetService()
	reading, err := s.read()
	if err != nil {
		return nil, "", nil, err
	}
	return selectPage(reading.Tables.Pools, request, keys.ParsePool, service, bytes,
		func(pool keys.Pool) bool { return service == "" || service == pool.Service })
}
