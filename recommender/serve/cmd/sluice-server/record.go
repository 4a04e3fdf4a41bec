package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"sluice.dev/serve/internal/database"
	"sluice.dev/serve/internal/metrics"
	"sluice.dev/serve/internal/records"
)

// record writes the journal's records into the tables until ctx is done.
func record(ctx context.Context, s settings, errs io.Writer) error {
	logger := slog.New(slog.NewTextHandler(errs, nil))
	tables, err := database.New(s.clickhouse, s.clickhouseDatabase, database.Login{
		User: s.writer, Password: s.writerPassword, Variable: "SLUICE_CLICKHOUSE_USER", Secret: "SLUICE_CLICKHOUSE_PASSWORD",
	}, s.clickhouseCA)
	if err != nil {
		return err
	}
	progress, err := records.NewProgress(s.journal, time.Now)
	if err != nil {
		return err
	}
	defer progress.Close()
	stopMetrics, err := exportMetrics(ctx, s, metrics.NewExporter(progress), logger)
	if err != nil {
		return err
	}
	defer stopMetrics()
	logger.Info("recording", "journal", s.journal.Decisions, "tables", s.clickhouse)
	return records.Run(ctx, s.journal, tables.Insert, progress, logger)
}
