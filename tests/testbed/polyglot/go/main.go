// Command polyglot is two services as their authors would write them: otelhttp, otelsql and kotel as their own documents
// show them, database/sql's default pool. The first argument is the role.
//
//	catalogue: GET /items/ID reads items, and for some reserves one, which changes a row of instrumented/hot.sql
//	shipping: consumes the topic of checkouts, with a number of workers
//
// In both an actuator can resize the pools, at the address -pools.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/XSAM/otelsql"
	_ "github.com/lib/pq"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
)

type options struct{ listen, pools, token, postgres, kafka, topic string }

func main() {
	roles := map[string]func(context.Context, options) error{"catalogue": catalogue, "shipping": shipping}
	if len(os.Args) < 2 || roles[os.Args[1]] == nil {
		log.Fatal("want a role first: catalogue or shipping")
	}
	var o options
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	flags.StringVar(&o.listen, "listen", "", "HOST:PORT")
	flags.StringVar(&o.pools, "pools", "", "HOST:PORT of what an actuator asks")
	flags.StringVar(&o.token, "token", "", "file of the actuator's token")
	flags.StringVar(&o.postgres, "postgres", "", "connection string")
	flags.StringVar(&o.kafka, "kafka", "", "HOST:PORT of a broker")
	flags.StringVar(&o.topic, "topic", "checkouts", "topic of checkouts")
	flags.Parse(os.Args[2:])
	ctx := context.Background()
	if err := instrument(ctx); err != nil {
		log.Fatal(err)
	}
	log.Fatal(roles[os.Args[1]](ctx, o))
}

// instrument sets the global providers; addresses and names come from OTEL_* variables.
func instrument(ctx context.Context) error {
	exporter, err := otlptracegrpc.New(ctx)
	if err != nil {
		return fmt.Errorf("export spans: %w", err)
	}
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithBatcher(exporter)))
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return nil
}

func open(dsn string) (*sql.DB, error) {
	named := append(otelsql.AttributesFromDSN(dsn), attribute.String("db.system.name", "postgresql"))
	return otelsql.Open("postgres", dsn, otelsql.WithAttributes(named...))
}
