package calls

import (
	"context"
	"encoding/base64"
	"hash/crc32"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/table"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

const (
	// mostListed answers, or the first so many that have mostBytes: gRPC's clients take 4 MiB by default.
	mostListed   = 5000
	mostBytes    = 3 << 20
	mostPageText = 4096
	legalPage    = "next_page_token of the page before, with the same filter, or empty"
)

// ListPoolSizes implements the service.
func (s *Service) ListPoolSizes(_ context.Context, request *poolsv1.ListPoolSizesRequest) (*poolsv1.ListPoolSizesResponse, error) {
	page, next, view, err := s.page(request, mostBytes)
	if err != nil {
		return nil, err
	}
	response := &poolsv1.ListPoolSizesResponse{NextPageToken: next}
	now := time.Now()
	for _, e := range page {
		response.PoolSizes = append(response.PoolSizes, answer(e, view, now))
	}
	return response, nil
}

// DiffPoolSizes implements the service.
func (s *Service) DiffPoolSizes(_ context.Context, request *poolsv1.DiffPoolSizesRequest) (*poolsv1.DiffPoolSizesResponse, error) {
	// Each change names its pool again: by a name of 60 bytes or so, a target then takes four times as much.
	page, next, view, err := s.page(request, mostBytes/4)
	if err != nil {
		return nil, err
	}
	response := &poolsv1.DiffPoolSizesResponse{NextPageToken: next}
	now := time.Now()
	for _, e := range page {
		response.Changes = append(response.Changes, changes(answer(e, view, now))...)
	}
	return response, nil
}

// changes are the targets that would get another size, if the answer may be applied.
func changes(size *poolsv1.PoolSize) (those []*poolsv1.DiffPoolSizesResponse_Change) {
	if size.GetAction() != commonv1.Action_ACTION_APPLY || size.GetTarget() == 0 {
		return nil
	}
	for _, target := range size.GetSizes() {
		if target.Size != nil && target.GetSize() == size.GetTarget() {
			continue
		}
		those = append(those, &poolsv1.DiffPoolSizesResponse_Change{
			Pool: size.GetPool(), Instance: target.GetInstance(), Current: target.Size,
			Target: size.GetTarget(), Revision: size.GetRevision(),
		})
	}
	return those
}

// listing is a request for a page.
type listing interface {
	GetService() string
	GetPageSize() int32
	GetPageToken() string
}

func (s *Service) page(request listing, bytes int) (page []*table.Entry, next string, view *table.View, err error) {
	service, size := request.GetService(), request.GetPageSize()
	after, err := parsePage(request.GetPageToken(), service)
	if err != nil {
		return nil, "", nil, err
	}
	if size < 0 {
		return nil, "", nil, problem.NotLegal("page_size", size, ">= 0")
	}
	if size == 0 || size > mostListed {
		size = mostListed
	}
	reading, err := s.read()
	if err != nil {
		return nil, "", nil, err
	}
	page, more, view := reading.Table.Page(after, int(size), func(pool keys.Pool) bool {
		return service == "" || service == pool.Service
	})
	if n := fitting(page, bytes); n < len(page) {
		page, more = page[:n], true
	}
	if more {
		next = pageToken(page[len(page)-1].Key, service)
	}
	return page, next, view, nil
}

// fitting is how many answers of a page have `most` bytes together; one at least.
func fitting(page []*table.Entry, most int) int {
	const lease = 40 // bytes at most, which are not in the record
	bytes := 0
	for i, e := range page {
		if bytes += proto.Size(e.Size) + lease; bytes > most && i > 0 {
			return i
		}
	}
	return len(page)
}

// pageToken is where a list goes on: behind a pool, under a filter. The check sum finds what is not ours.
func pageToken(after keys.Pool, filter string) string {
	text := after.Record() + "\n" + filter
	sum := crc32.ChecksumIEEE([]byte(text))
	return base64.RawURLEncoding.EncodeToString(append([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}, text...))
}

// parsePage is the inverse; the zero Pool, which is before all others, for an empty token.
func parsePage(token, filter string) (keys.Pool, error) {
	if token == "" {
		return keys.Pool{}, nil
	}
	bad := problem.NotLegal("page_token", token, legalPage)
	if len(token) > mostPageText {
		return keys.Pool{}, bad
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) < 4 {
		return keys.Pool{}, bad
	}
	record, under, _ := strings.Cut(string(b[4:]), "\n")
	pool, err := keys.ParsePool(record)
	if err != nil || under != filter || pageToken(pool, filter) != token {
		return keys.Pool{}, bad
	}
	return pool, nil
}
