// Command instrumented is a Go service as its authors would write it: otelhttp and otelsql as their own documents show
// them, exporters with their defaults, and one connection pool. It knows nothing of Sluice.
// Arguments: PORT DSN CONNECTIONS. GET /update changes a row of instrumented/hot.sql.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"

	"github.com/XSAM/otelsql"
	_ "github.com/lib/pq"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
)

// rows is the number of rows that hot.sql makes.
const rows = 8

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	if len(os.Args) != 4 {
		return fmt.Errorf("want PORT DSN CONNECTIONS, got %d arguments", len(os.Args)-1)
	}
	size, err := strconv.Atoi(os.Args[3])
	if err != nil || size < 1 {
		return fmt.Errorf("CONNECTIONS: want a whole number from 1, got %q", os.Args[3])
	}
	if err := instrument(context.Background()); err != nil {
		return err
	}
	named := otelsql.WithAttributes(append(otelsql.AttributesFromDSN(os.Args[2]), attribute.String("db.system.name", "postgresql"))...)
	db, err := otelsql.Open("postgres", os.Args[2], named)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	if _, err := otelsql.RegisterDBStatsMetrics(db, named); err != nil {
		return err
	}
	update := func(w http.ResponseWriter, r *http.Request) {
		var attempts int
		if err := db.QueryRowContext(r.Context(), "SELECT change($1)", 1+rand.IntN(rows)).Scan(&attempts); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, attempts)
	}
	http.Handle("/update", otelhttp.NewHandler(http.HandlerFunc(update), "/update"))
	return http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}

// instrument sets the global providers; addresses and names come from OTEL_* variables.
func instrument(ctx context.Context) error {
	spans, err := otlptracegrpc.New(ctx)
	if err != nil {
		return err
	}
	metrics, err := otlpmetricgrpc.New(ctx)
	if err != nil {
		return err
	}
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithBatcher(spans)))
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(metrics))))
	return nil
}
