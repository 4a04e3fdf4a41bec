package calls

import (
	"encoding/base64"
	"hash/crc32"
	"strings"

	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/table"
)

const (
	mostPageText = 4096
	legalPage    = "next_page_token of the previous page, with the same filter, or empty"
)

// pageRequest is a request for a page.
type pageRequest interface {
	GetPageSize() int32
	GetPageToken() string
}

// selectPage is the requested page of a table, of entries that keep selects, in a bounded number of bytes. filter describes keep.
func selectPage[K table.Key[K], V proto.Message](
	t *table.Table[K, V], request pageRequest, parse func(string) (K, error), filter string, bytes int, keep func(K) bool,
) (page []*table.Entry[K, V], next string, view *table.View[K, V], err error) {
	after, err := parsePage(request.GetPageToken(), filter, parse)
	if err != nil {
		return nil, "", nil, err
	}
	size := request.GetPageSize()
	if size < 0 {
		return nil, "", nil, problem.NotLegal("page_size", size, ">= 0")
	}
	if size == 0 || size > mostListed {
		size = mostListed
	}
	page, more, view := t.Page(after, int(size), keep)
	if n := countWithin(page, bytes); n < len(page) {
		page, more = page[:n], true
	}
	if more {
		next = pageToken(page[len(page)-1].Key.Record(), filter)
	}
	return page, next, view, nil
}

// countWithin is the number of entries of a page that have at most limit bytes together; at least one.
func countWithin[K table.Key[K], V proto.Message](page []*table.Entry[K, V], limit int) int {
	const lease = 40 // bytes at most, which are not in the record
	bytes := 0
	for i, e := range page {
		if bytes += proto.Size(e.Publication) + lease; bytes > limit && i > 0 {
			return i
		}
	}
	return len(page)
}

// pageToken is the position where a list continues: after a record, under a filter. The check sum detects foreign tokens.
func pageToken(after, filter string) string {
	text := after + "\n" + filter
	sum := crc32.ChecksumIEEE([]byte(text))
	return base64.RawURLEncoding.EncodeToString(append([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}, text...))
}

// parsePage is the inverse; for an empty token the zero key, which is before all others.
func parsePage[K table.Key[K]](token, filter string, parse func(string) (K, error)) (after K, err error) {
	if token == "" {
		return after, nil
	}
	bad := problem.NotLegal("page_token", token, legalPage)
	if len(token) > mostPageText {
		return after, bad
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) < 4 {
		return after, bad
	}
	record, tokenFilter, _ := strings.Cut(string(b[4:]), "\n")
	key, err := parse(record)
	if err != nil || tokenFilter != filter || pageToken(record, filter) != token {
		return after, bad
	}
	return key, nil
}
