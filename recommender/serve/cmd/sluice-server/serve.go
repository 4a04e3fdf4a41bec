package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"google.golang.org/grpc"

	"sluice.dev/serve/internal/calls"
	"sluice.dev/serve/internal/database"
	"sluice.dev/serve/internal/health"
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
		Variable: "SLUICE_CLICKHOUSE_READER", Secret: "SLUICE_CLICKHOUSE_READER_PASSWORD_FILE",
	}, s.clickhouseCA)
	if err != nil {
		return err
	}
	service := calls.New(store, history, func() string { return reader.Problem() })
	hub := xds.New(writer, logger, s.xds)
	var grpcServer *server.Server
	reader = topics.NewReader(s.journal, logger, func(reading topics.Reading) {
		service.Serve(reading)
		hub.Serve(reading.Tables)
		go watch.Ticks(ctx, reading.Tables, watch.EventInterval)
		grpcServer.Ready(true)
	})
	schema := database.NewSchema(history, logger)
	serverMetrics := metrics.New(service, reader, hub.Counts())
	missing := s.access.Insecure(s.address)
	serverMetrics.Checks(func() bool { return len(schema.Causes()) == 0 }, func() bool { return len(missing) > 0 })
	s.access.Refused = serverMetrics.Refused
	grpcServer, err = server.Listen(s.address, service, hub, s.access, s.limits,
		grpc.ChainUnaryInterceptor(serverMetrics.Unary), grpc.ChainStreamInterceptor(serverMetrics.Stream))
	if err != nil {
		return err
	}
	serverMetrics.Connections(grpcServer.Connections)
	stopHealth, err := s.expose(ctx, health.Pages{
		Live: reader.Live, Ready: func() []string { return notRead(service, reader) }, GRPC: grpcServer.Health(),
	}, serverMetrics.Exporter, logger)
	if err != nil {
		return err
	}
	defer stopHealth()
	stopExternal, err := s.external.serve(service, s.access, logger)
	if err != nil {
		return err
	}
	defer stopExternal()
	go s.access.Follow(ctx, reread, logger)
	go reader.Run(ctx)
	go schema.Wait(ctx, func() {}) // the server needs no schema but for history
	if len(missing) > 0 {
		logger.Warn("other machines reach this server without TLS or without authentication", "address", grpcServer.Address(), "not_set", missing)
	}
	logger.Info("listening", "address", grpcServer.Address(), "access", s.access.String(), "shards", s.journal.Shards,
		"health", s.health, "memory_limit", s.memory)
	err = grpcServer.Serve(ctx)
	logger.Info("stopped")
	return err
}

// notRead has the reason why the server cannot answer calls: it has not read the journal to its end yet. Later it answers from its
// newest reading, also while no broker answers.
func notRead(service *calls.Service, reader *topics.Reader) []string {
	if service.Tables() != nil {
		return nil
	}
	return []string{"journal: " + reader.Problem()}
}
