package database

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// NeededSchema is the version of the schema that this program needs: the number of the newest file in
// storage/clickhouse/migrations. 0: the first schema.
const NeededSchema = 9

const (
	// checkInterval lies between two checks of the schema, logInterval between two lines of the log about it.
	checkInterval, logInterval = 2 * time.Second, 30 * time.Second
	// checkTime bounds a check.
	checkTime = 10 * time.Second
)

// schemaSQL reads the versions that the migrator recorded, each once all of it was applied.
const schemaSQL = "SELECT count() AS migrations, max(version) AS version FROM schema_migrations FORMAT JSONEachRow"

// errAbsent means that the database, or a table of the query, does not exist.
var errAbsent = errors.New("it does not exist")

// absenceCodes are ClickHouse's codes for an unknown table and an unknown database.
var absenceCodes = map[string]bool{"60": true, "81": true}

// CheckSchema returns nil once the database has the version that this program needs, or a later one. After that it does not ask
// the database again.
func (c *ClickHouse) CheckSchema(ctx context.Context) error {
	if c.schemaCurrent.Load() {
		return nil
	}
	var recorded struct {
		Migrations uint64 `json:"migrations"`
		Version    uint32 `json:"version"`
	}
	body, err := c.read(ctx, schemaSQL, nil)
	if err == nil {
		err = json.Unmarshal(body, &recorded)
	}
	if err != nil && !errors.Is(err, errAbsent) {
		return fmt.Errorf("schema: have unknown, need %d: %w", NeededSchema, err)
	}
	have := "none"
	if recorded.Migrations > 0 {
		have = fmt.Sprint(recorded.Version)
	}
	if have == "none" || recorded.Version < NeededSchema {
		return fmt.Errorf("schema: have %s, need %d; run `sluice-migrate up`", have, NeededSchema)
	}
	c.schemaCurrent.Store(true)
	return nil
}

// Schema waits for the version of the schema that this program needs.
type Schema struct {
	database *ClickHouse
	logger   *slog.Logger
	cause    atomic.Pointer[string]
}

// NewSchema does not check before Wait.
func NewSchema(database *ClickHouse, logger *slog.Logger) *Schema {
	s := &Schema{database: database, logger: logger}
	s.set(fmt.Sprintf("schema: have unknown, need %d: not checked yet", NeededSchema))
	return s
}

func (s *Schema) set(cause string) { s.cause.Store(&cause) }

// Causes has the reason why the schema is not current, or not known; none once it is current.
func (s *Schema) Causes() []string {
	if cause := *s.cause.Load(); cause != "" {
		return []string{cause}
	}
	return nil
}

// Wait returns true once the schema is current, and false when ctx is done before. turn is called before each check.
func (s *Schema) Wait(ctx context.Context, turn func()) bool {
	var logged time.Time
	for {
		turn()
		within, cancel := context.WithTimeout(ctx, checkTime)
		err := s.database.CheckSchema(within)
		cancel()
		if ctx.Err() != nil {
			return false
		}
		if err == nil {
			s.set("")
			s.logger.Info("the schema is current", "need", NeededSchema)
			return true
		}
		s.set(err.Error())
		if logged.IsZero() || time.Since(logged) >= logInterval {
			s.logger.Warn("waiting for the schema", "error", err)
			logged = time.Now()
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(checkInterval):
		}
	}
}
