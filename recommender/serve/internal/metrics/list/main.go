// Command list prints a line for each metric of the server and of `records`: its kind, "-" before its first sample, and its
// descriptor. docs/generate/metrics.py reads it.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"sluice.dev/serve/internal/calls"
	"sluice.dev/serve/internal/metrics"
	"sluice.dev/serve/internal/records"
	"sluice.dev/serve/internal/topics"
	"sluice.dev/serve/internal/xds"
)

func main() {
	logger, never := slog.New(slog.DiscardHandler), func() bool { return false }
	// No client connects before its first use.
	journal := topics.Journal{Brokers: []string{"127.0.0.1:9092"}}
	reader := topics.NewReader(journal, logger, nil)
	server := metrics.New(calls.New(nil, nil, reader.Problem), reader, xds.New(nil, logger, xds.Settings{}).Counts())
	server.Checks(never, never)
	server.Connections(func() (open, refused int64) { return 0, 0 })
	// A call, for a sample of the histogram: a descriptor has no kind.
	handler := func(context.Context, any) (any, error) { return nil, nil }
	if _, err := server.Unary(context.Background(), nil, &grpc.UnaryServerInfo{FullMethod: "/Service/Method"}, handler); err != nil {
		log.Fatal(err)
	}
	families, err := server.Gather()
	if err != nil {
		log.Fatal(err)
	}
	kinds := map[string]string{}
	for _, family := range families {
		kinds[family.GetName()] = family.GetType().String()
	}
	for name, kind := range kinds {
		fmt.Println("kind", name, kind)
	}
	progress, err := records.NewProgress(journal, time.Now)
	if err != nil {
		log.Fatal(err)
	}
	descriptors := make(chan *prometheus.Desc)
	go func() {
		server.Describe(descriptors)
		progress.Describe(descriptors)
		close(descriptors)
	}()
	for descriptor := range descriptors {
		fmt.Println(descriptor)
	}
}
