package main

import (
	"context"
	"database/sql"
	"log"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/plugin/kotel"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"

	"sluice.dev/handlers"
)

// ship stands for a carrier that answers after a tenth of a second, within the transaction of the shipment.
const ship = "INSERT INTO shipments (visitor) SELECT length($1) FROM pg_sleep(0.1)"

// shipping works off checkouts, each in a worker of its own.
func shipping(ctx context.Context, o options) error {
	db, err := open(o.postgres)
	if err != nil {
		return err
	}
	busy := newWorkers(4)
	pools := map[string]handlers.Pool{"connections": handlers.SQL(db), "workers": busy}
	if _, err := handlers.Serve(o.pools, o.token, pools); err != nil {
		return err
	}
	tracer := kotel.NewTracer(kotel.TracerProvider(otel.GetTracerProvider()), kotel.TracerPropagator(otel.GetTextMapPropagator()), kotel.ConsumerGroup("shipping"))
	client, err := kgo.NewClient(kgo.SeedBrokers(o.kafka), kgo.ConsumerGroup("shipping"), kgo.ConsumeTopics(o.topic),
		kgo.WithHooks(kotel.NewKotel(kotel.WithTracer(tracer)).Hooks()...))
	if err != nil {
		return err
	}
	for {
		fetched := client.PollFetches(ctx)
		if err := fetched.Err(); err != nil {
			log.Print(err)
		}
		fetched.EachRecord(func(record *kgo.Record) {
			busy.enter()
			go func() {
				defer busy.leave()
				process(tracer, db, record)
			}()
		})
	}
}

func process(tracer *kotel.Tracer, db *sql.DB, record *kgo.Record) {
	ctx, span := tracer.WithProcessSpan(record)
	defer span.End()
	if _, err := db.ExecContext(ctx, ship, string(record.Value)); err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
}

// workers bound how many records are under way; a pool of handlers.
type workers struct {
	mu          sync.Mutex
	free        *sync.Cond
	limit, busy int
}

func newWorkers(limit int) *workers {
	w := &workers{limit: limit}
	w.free = sync.NewCond(&w.mu)
	return w
}

func (w *workers) enter() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.busy >= w.limit {
		w.free.Wait()
	}
	w.busy++
}

func (w *workers) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	w.free.Signal()
}

func (w *workers) Size() (limit, open int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limit, max(w.limit, w.busy)
}

func (w *workers) Resize(limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = limit
	w.free.Broadcast()
}
