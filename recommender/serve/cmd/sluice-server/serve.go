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

// reread is how often the access files are checked for changes.
const reread = 2 * time.Second

// log takes reports and has explanations.
type log struct {
	*topics.Writer
	*topics.Explanations
}

func (l log) Close() { l.Writer.Close(); l.Explanations.Close() }

// serve returns when ctx is done and all calls have ended.
func serve(ctx context.Context, s settings, errs io.Writer) error {
	logger := slog.New(slog.NewTextHandler(errs, nil))
	writer, err := topics.NewWriter(s.log)
	if err != nil {
		return err
	}
	explanations, err := topics.NewExplanations(s.log)
	if err != nil {
		return err
	}
	at := log{writer, explanations}
	defer at.Close()

	var reader *topics.Reader
	history, err := database.New(s.clickhouse, s.clickhouseDatabase, database.Login{
		User: s.user, Password: s.readerPassword,
		Variable: "SLUICE_CLICKHOUSE_READER", Secret: "SLUICE_CLICKHOUSE_READER_PASSWORD",
	}, s.clickhouseCA)
	if err != nil {
		return err
	}
	service := calls.New(at, history, func() string { return reader.Problem() })
	hub := xds.New(writer, logger, s.bounds)
	var listening *server.Server
	reader = topics.NewReader(s.log, logger, func(reading topics.Reading) {
		service.Serve(reading)
		hub.Serve(reading.Log)
		go watch.Ticks(ctx, reading.Log, watch.Every)
		listening.Ready(true)
	})
	counted := metrics.New(service, reader, hub.Counts())
	listening, err = server.Listen(s.address, service, hub, s.access,
		grpc.ChainUnaryInterceptor(counted.Unary), grpc.ChainStreamInterceptor(counted.Stream))
	if err != nil {
		return err
	}
	stop, err := tell(ctx, s, counted.Pages, logger)
	if err != nil {
		return err
	}
	defer stop()
	silent, err := s.external.serve(service, s.access, logger)
	if err != nil {
		return err
	}
	defer silent()
	go s.access.Follow(ctx, reread, logger)
	go reader.Run(ctx)
	logger.Info("listening", "address", listening.Address(), "access", s.access.String(), "shards", s.log.Shards)
	err = listening.Serve(ctx)
	logger.Info("stopped")
	return err
}

// tell exports the metrics as the settings say.
func tell(ctx context.Context, s settings, counted *metrics.Pages, logger *slog.Logger) (stop func(), err error) {
	stop = func() {}
	if s.metrics != "" {
		listener, err := net.Listen("tcp", s.metrics)
		if err != nil {
			return nil, fmt.Errorf("listen on SLUICE_METRICS=%s: %w", s.metrics, err)
		}
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", counted.Handler())
		pages := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
		go pages.Serve(listener) //nolint:errcheck // it ends when the server is closed
		stop = func() { pages.Close() }
	}
	if s.otlp {
		end, err := counted.Push(ctx, logger)
		if err != nil {
			return nil, err
		}
		closed := stop
		stop = func() {
			within, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			_ = end(within) // metrics that are not sent by then are lost
			closed()
		}
	}
	return stop, nil
}
