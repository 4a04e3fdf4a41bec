package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"

	"sluice.dev/serve/internal/calls"
	"sluice.dev/serve/internal/database"
	"sluice.dev/serve/internal/metrics"
	"sluice.dev/serve/internal/server"
	"sluice.dev/serve/internal/topics"
	"sluice.dev/serve/internal/watch"
	"sluice.dev/serve/internal/xds"
)

// reread is the interval between two checks of the access files.
const reread = 2 * time.Second

// journalStore writes reports to the journal and reads explanations from it.
type journalStore struct {
	*topics.Writer
	*topics.Explanations
}

func (l journalStore) Close() { l.Writer.Close(); l.Explanations.Close() }

// serve returns when ctx is done and all calls have ended.
func serve(ctx context.Context, s settings, errs io.Writer) error {
	logger := slog.New(slog.NewTextHandler(errs, nil))
	writer, err := topics.NewWriter(s.journal)
	if err != nil {
		return err
	}
	explanations, err := topics.NewExplanations(s.journal)
	if err != nil {
		return err
	}
	store := journalStore{writer, explanations}
	defer store.Close()

	var reader *topics.Reader
	history, err := database.New(s.clickhouse, s.clickhouseDatabase, database.Login{
		User: s.user, Password: s.readerPassword,
		Variable: "SLUICE_CLICKHOUSE_READER", Secret: "SLUICE_CLICKHOUSE_READER_PASSWORD",
	}, s.clickhouseCA)
	if err != nil {
		return err
	}
	service := calls.New(store, history, func() string { return reader.Problem() })
	hub := xds.New(writer, logger, s.sizedPools)
	var grpcServer *server.Server
	reader = topics.NewReader(s.journal, logger, func(reading topics.Reading) {
		service.Serve(reading)
		hub.Serve(reading.Tables)
		go watch.Ticks(ctx, reading.Tables, watch.EventInterval)
		grpcServer.Ready(true)
	})
	serverMetrics := metrics.New(service, reader, hub.Counts())
	grpcServer, err = server.Listen(s.address, service, hub, s.access,
		grpc.ChainUnaryInterceptor(serverMetrics.Unary), grpc.ChainStreamInterceptor(serverMetrics.Stream))
	if err != nil {
		return err
	}
	stopMetrics, err := exportMetrics(ctx, s, serverMetrics.Exporter, logger)
	if err != nil {
		return err
	}
	defer stopMetrics()
	stopExternal, err := s.external.serve(service, s.access, logger)
	if err != nil {
		return err
	}
	defer stopExternal()
	go s.access.Follow(ctx, reread, logger)
	go reader.Run(ctx)
	logger.Info("listening", "address", grpcServer.Address(), "access", s.access.String(), "shards", s.journal.Shards)
	err = grpcServer.Serve(ctx)
	logger.Info("stopped")
	return err
}

// exportMetrics serves the metrics on SLUICE_METRICS and sends them by OTLP, each if it is set.
func exportMetrics(ctx context.Context, s settings, registry *metrics.Exporter, logger *slog.Logger) (stop func(), err error) {
	stop = func() {}
	if s.metrics != "" {
		listener, err := net.Listen("tcp", s.metrics)
		if err != nil {
			return nil, fmt.Errorf("listen on SLUICE_METRICS=%s: %w", s.metrics, err)
		}
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", registry.Handler())
		pages := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
		go pages.Serve(listener) //nolint:errcheck // it ends when the server is closed
		stop = func() { pages.Close() }
	}
	if s.otlp {
		shutdown, err := registry.Push(ctx, logger)
		if err != nil {
			return nil, err
		}
		closePages := stop
		stop = func() {
			within, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			_ = shutdown(within) // unsent metrics are lost
			closePages()
		}
	}
	return stop, nil
}
