package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
)

// All reviews together are 90 MB: more than memcached's default of 64 MB holds. Those of a product are 300 kB, scattered
// over the table, as they come in.
const (
	products = 300
	each     = 1_000
	length   = 300
)

// fill makes the table, once.
func fill(db *sql.DB) error {
	var there bool
	if err := db.QueryRow("SELECT to_regclass('reviews') IS NOT NULL").Scan(&there); err != nil || there {
		return err
	}
	for _, statement := range []string{
		"CREATE TABLE filling (id int, product int, stars int, words text)",
		fmt.Sprintf("INSERT INTO filling SELECT i, i %% %d, 1 + i %% 5, rpad(md5(i::text), %d, 'review ') FROM generate_series(1, %d) AS i",
			products, length, products*each),
		"CREATE INDEX ON filling (product)",
		"ANALYZE filling",
		"ALTER TABLE filling RENAME TO reviews",
	} {
		if _, err := db.Exec(statement); err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	return nil
}

// read is a product's reviews, the best first.
func read(ctx context.Context, db *sql.DB, product int) ([]byte, error) {
	rows, err := db.QueryContext(ctx, "SELECT stars, words FROM reviews WHERE product = $1 ORDER BY stars DESC, words", product)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var text bytes.Buffer
	for rows.Next() {
		var stars int
		var words sql.RawBytes
		if err := rows.Scan(&stars, &words); err != nil {
			return nil, err
		}
		fmt.Fprintf(&text, "%d %s\n", stars, words)
	}
	return text.Bytes(), rows.Err()
}
