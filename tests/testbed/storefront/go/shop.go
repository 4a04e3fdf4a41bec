package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

const (
	// visitors have a session each.
	visitors = 2_000
	// orderShare of pages end with an order.
	orderShare = 0.3
	// shown is how much of a product's reviews a page has, bytes.
	shown = 4 << 10
	// limit bounds what a page asks of others.
	limit = 10 * time.Second
)

type addresses struct{ redis, memcached, orders string }

// shop has its clients behind pointers: one with other settings takes the place of the one before.
type shop struct {
	addresses
	db       *sql.DB
	tracers  tracers
	redis    atomic.Pointer[redis.Client]
	memcache atomic.Pointer[memcache.Client]
	http     atomic.Pointer[http.Client]
}

func newShop(db *sql.DB, a addresses, t tracers) *shop {
	s := &shop{addresses: a, db: db, tracers: t}
	s.redis.Store(redisClient(a.redis, 0))
	s.memcache.Store(memcacheClient(a.memcached, 0))
	s.http.Store(httpClient(0))
	return s
}

// page is a visit: a session in Redis, a product's reviews out of memcached or else PostgreSQL, and for some an order.
func (s *shop) page(w http.ResponseWriter, r *http.Request) {
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ctx, span := s.tracers["storefront"].Start(ctx, "GET /page", trace.WithSpanKind(trace.SpanKindServer))
	defer span.End()
	visits, err := s.visit(ctx, rand.IntN(visitors))
	var reviews []byte
	if err == nil {
		reviews, err = s.reviews(ctx, rand.IntN(products))
	}
	if err == nil && rand.Float64() < orderShare {
		err = s.order(ctx)
	}
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	body := fmt.Appendf(nil, "visit %d, reviews %08x\n%s", visits, crc32.ChecksumIEEE(reviews), reviews[:min(shown, len(reviews))])
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

// visit counts a visitor's pages.
func (s *shop) visit(ctx context.Context, visitor int) (visits int64, err error) {
	err = s.tracers.call(ctx, "redis", "INCR", func(ctx context.Context) error {
		visits, err = s.redis.Load().Incr(ctx, "session:"+strconv.Itoa(visitor)).Result()
		return err
	})
	return visits, err
}

// reviews are all of a product's, as text.
func (s *shop) reviews(ctx context.Context, product int) ([]byte, error) {
	key := "reviews:" + strconv.Itoa(product)
	var item *memcache.Item
	err := s.tracers.call(ctx, "memcached", "get", func(context.Context) (err error) {
		item, err = s.memcache.Load().Get(key)
		if errors.Is(err, memcache.ErrCacheMiss) {
			return nil
		}
		return err
	})
	if err != nil || item != nil {
		return value(item), err
	}
	var found []byte
	err = s.tracers.call(ctx, "postgresql", "SELECT reviews", func(ctx context.Context) (err error) {
		found, err = read(ctx, s.db, product)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = s.tracers.call(ctx, "memcached", "set", func(context.Context) error {
		return s.memcache.Load().Set(&memcache.Item{Key: key, Value: found})
	})
	return found, err
}

func value(item *memcache.Item) []byte {
	if item == nil {
		return nil
	}
	return item.Value
}

// order asks the service of orders, which begins its own span.
func (s *shop) order(ctx context.Context) error {
	return s.tracers.call(ctx, "storefront", "GET", func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.orders, nil)
		if err != nil {
			return err
		}
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(request.Header))
		answer, err := s.http.Load().Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		if err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("order: %s", answer.Status)
		}
		return err
	})
}
