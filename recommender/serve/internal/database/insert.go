package database

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"sluice.dev/serve/internal/records"
)

// Insert writes rows to a table. Columns that a row lacks get their defaults.
func (c *ClickHouse) Insert(ctx context.Context, table string, rows []records.Row) error {
	var body bytes.Buffer
	fmt.Fprintf(&body, "INSERT INTO %s FORMAT JSONEachRow\n", table)
	lines := json.NewEncoder(&body)
	for _, row := range rows {
		if err := lines.Encode(row); err != nil {
			return fmt.Errorf("write to %s: %w: %w", table, records.ErrRefused, err) // such as NaN, which JSON does not have
		}
	}
	// ClickHouse acknowledges once the rows are in the table, not once they are queued.
	if _, err := c.post(ctx, "&async_insert=0&distributed_foreground_insert=1", body.Bytes()); err != nil {
		return fmt.Errorf("write to %s: %w", table, err)
	}
	return nil
}
