package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"sluice.dev/serve/internal/database"
	"sluice.dev/serve/internal/health"
	"sluice.dev/serve/internal/metrics"
	"sluice.dev/serve/internal/records"
)

// record writes the journal's records into the tables until ctx is done. It begins once the tables have the needed schema.
func record(ctx context.Context, s settings, errs io.Writer) error {
	logger := slog.New(slog.NewTextHandler(errs, nil))
	tables, err := database.New(s.clickhouse, s.clickhouseDatabase, database.Login{
		User: s.writer, Password: s.writerPassword, Variable: "SLUICE_CLICKHOUSE_USER", Secret: "SLUICE_CLICKHOUSE_PASSWORD_FILE",
	}, s.clickhouseCA)
	if err != nil {
		return err
	}
	progress, err := records.NewProgress(s.journal, time.Now)
	if err != nil {
		return err
	}
	defer progress.Close()
	schema, loop := database.NewSchema(tables, logger), records.NewLoop()
	stop, err := s.expose(ctx, health.Pages{Live: loop.Causes, Ready: schema.Causes}, metrics.NewExporter(progress), logger)
	if err != nil {
		return err
	}
	defer stop()
	logger.Info("started", "tables", s.clickhouse, "health", s.health, "memory_limit", s.memory)
	if !schema.Wait(ctx, loop.Turn) {
		logger.Info("stopped")
		return nil
	}
	logger.Info("recording", "journal", s.journal.Decisions, "tables", s.clickhouse)
	err = records.Recorder{
		Journal: s.journal, Insert: tables.Insert, Progress: progress, Logger: logger, Drain: s.limits.Drain, Loop: loop,
	}.Run(ctx)
	logger.Info("stopped")
	return err
}
