package handlers

import "database/sql"

// SQL is the connection pool of a database. The limits of open and idle connections move together. Beyond a smaller size,
// idle connections are closed at once, and those in use when they come back. No connection within the size is closed.
func SQL(db *sql.DB) Pool { return &connections{db: db} }

type connections struct {
	db    *sql.DB
	waits waits
}

func (c *connections) Size() (limit, open int) {
	stats := c.db.Stats()
	return stats.MaxOpenConnections, stats.OpenConnections
}

func (c *connections) Resize(limit int) {
	c.db.SetMaxOpenConns(limit)
	c.db.SetMaxIdleConns(limit)
}

func (c *connections) Use() (busy, waiting int) {
	stats := c.db.Stats()
	full := stats.MaxOpenConnections > 0 && stats.InUse >= stats.MaxOpenConnections
	return stats.InUse, c.waits.now(stats.WaitCount, stats.WaitDuration, full)
}

// Setter makes a pool of two functions: size returns the limit and the current number, resize sets the limit.
func Setter(size func() (limit, open int), resize func(limit int)) Pool { return setter{size, resize} }

type setter struct {
	size   func() (limit, open int)
	resize func(limit int)
}

func (s setter) Size() (limit, open int) { return s.size() }
func (s setter) Resize(limit int)        { s.resize(limit) }
