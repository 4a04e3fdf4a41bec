package handlers

import "database/sql"

// SQL is a database's connections. Open and idle ones move together: idle connections beyond the size are closed at
// once, those in use as they come back, and none is closed that the size allows.
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

// Setter is any pool: a function that tells its limit and what there is, and one that sets the limit.
func Setter(size func() (limit, open int), resize func(limit int)) Pool { return setter{size, resize} }

type setter struct {
	size   func() (limit, open int)
	resize func(limit int)
}

func (s setter) Size() (limit, open int) { return s.size() }
func (s setter) Resize(limit int)        { s.resize(limit) }
